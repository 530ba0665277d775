-- One row per request; the body is the file given as an argument.
function init(args)
  local file = assert(io.open(args[1], "rb"))
  local body = file:read("*a")
  file:close()
  request_bytes = wrk.format("POST", "/v1/predict", { ["Content-Type"] = "application/json" }, body)
end

function request()
  return request_bytes
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("%.0f predictions per second, p50 %.2f ms, p99 %.2f ms, slowest %.2f ms, %d errors\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency.max / 1000, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
