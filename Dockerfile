# A server in a small image: one static program, no shell scripts, no rights. It needs no more of the root file system
# than to read it; the model is in the volume /data.
#
#   docker build -t autoactivator .
#   docker run --read-only -p 127.0.0.1:7878:7878 -v models:/data -e AUTOACTIVATOR_TOKEN autoactivator

FROM rust:1.94-slim-trixie AS build
WORKDIR /source
COPY . .
# `fetch` and `ort` are left out: a static program can neither look up names nor load libraries. Backbones are files in
# /data/backbones, and rten runs them.
RUN RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols" cargo build --release --locked --package autoactivator-cli \
      --no-default-features --features backbones,npz,parquet,server,text --target "$(rustc --print host-tuple)" \
 && cp target/*/release/autoactivator /autoactivator \
 && mkdir /data && chown 10001:10001 /data

FROM busybox:1.37-musl
COPY --from=build /autoactivator /usr/local/bin/autoactivator
COPY --from=build --chown=10001:10001 /data /data
USER 10001:10001
WORKDIR /data
ENV AUTOACTIVATOR_DATA=/data XDG_CACHE_HOME=/data/cache
VOLUME /data
EXPOSE 7878
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:7878/ready"]
# Other machines reach it, so it needs a token: AUTOACTIVATOR_TOKEN, or --token-file. What is given to `docker run` follows.
ENTRYPOINT ["autoactivator", "serve", "/data/model.aact", "--listen", "0.0.0.0:7878"]
