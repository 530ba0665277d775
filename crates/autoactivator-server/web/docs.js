// What can be asked over HTTP? Shows /openapi.json route by route: parameters, bodies, answers. GETs can be tried.

import { byId, make } from './dom.js';

const spec = await (await fetch('/openapi.json')).json();

/** Resolves the references of a part of the document. */
function follow(part) {
  if (!part?.$ref) return part ?? {};
  return follow(
    part.$ref
      .slice(2)
      .split('/')
      .reduce((at, key) => at[key.replaceAll('~1', '/')], spec),
  );
}

/** A schema in words: `{rows: [[number]], top?: integer}`. */
function shapeOf(schema, depth = 0) {
  const named = schema?.$ref?.split('/').at(-1);
  if (named && depth > 1) return named;
  const {
    type,
    properties,
    required = [],
    items,
    enum: values,
    const: fixed,
    oneOf,
    anyOf,
    additionalProperties,
  } = follow(schema);
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (oneOf ?? anyOf) return (oneOf ?? anyOf).map((one) => shapeOf(one, depth + 1)).join(' | ');
  if (items) return `[${shapeOf(items, depth + 1)}]`;
  if (properties) {
    const inner = Object.entries(properties).map(
      ([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${shapeOf(one, depth + 1)}`,
    );
    return `{${inner.join(', ')}}`;
  }
  if (additionalProperties?.type || additionalProperties?.$ref)
    return `{...: ${shapeOf(additionalProperties, depth + 1)}}`;
  return Array.isArray(type) ? type.join(' | ') : (type ?? 'anything');
}

function table(caption, rows) {
  if (!rows.length) return '';
  const body = rows.map(([head, ...cells]) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, make('code', {}, head)),
      ...cells.map((cell) => make('td', {}, cell)),
    ),
  );
  return make('table', {}, make('caption', {}, caption), make('tbody', {}, ...body));
}

const code = (text) => make('code', {}, text);

function contents(content = {}) {
  return Object.entries(content).map(([type, { schema }]) => [type, code(shapeOf(schema))]);
}

function route(path, method, operation, shared) {
  const parameters = [...(shared ?? []), ...(operation.parameters ?? [])].map(follow);
  const id = idOf(method, path);
  const parts = [
    make('h2', { id }, make('span', { className: `method ${method}` }, method.toUpperCase()), code(path)),
    make('p', {}, operation.description ?? operation.summary ?? ''),
    table(
      'Parameters',
      parameters.map((p) => [
        p.name,
        `${p.in}${p.required ? ', needed' : ''}`,
        code(shapeOf(p.schema)),
        p.description ?? '',
      ]),
    ),
    table('Body', contents(follow(operation.requestBody).content)),
    table(
      'Answers',
      Object.entries(operation.responses).map(([status, answer]) => [
        status,
        follow(answer).description ?? '',
      ]),
    ),
  ];
  if (method === 'get') parts.push(tryIt(path, parameters));
  return make('section', { className: 'card', 'aria-labelledby': id }, ...parts);
}

function tryIt(path, parameters) {
  const inputs = parameters.map((p) => {
    const input = make('input', { name: p.name, placeholder: String(p.schema?.default ?? p.example ?? '') });
    return { p, input, label: make('label', {}, p.name, input) };
  });
  const status = make('span', { className: 'help', role: 'status' });
  const answer = make('pre', { tabIndex: 0, hidden: true, 'aria-label': `Answer of ${path}` });
  const form = make(
    'form',
    { className: 'try' },
    ...inputs.map(({ label }) => label),
    make('button', {}, 'Try it'),
    status,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const place = inputs.filter(({ p }) => p.in === 'path');
    const asked = place.reduce(
      (url, { p, input }) => url.replace(`{${p.name}}`, encodeURIComponent(input.value)),
      path,
    );
    const query = new URLSearchParams(
      inputs
        .filter(({ p, input }) => p.in === 'query' && input.value)
        .map(({ p, input }) => [p.name, input.value]),
    );
    const response = await fetch(query.size ? `${asked}?${query}` : asked).catch(() => null);
    status.textContent = response
      ? `${response.status} ${response.headers.get('content-type') ?? ''}`
      : 'no answer';
    answer.hidden = !response;
    if (response) answer.textContent = await readable(response);
  });
  return make('div', {}, form, answer);
}

async function readable(response) {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json')) return JSON.stringify(await response.json(), null, 1).slice(0, 20000);
  if (type.includes('event-stream')) return beginning(response.body.getReader());
  if (type.startsWith('text/')) return (await response.text()).slice(0, 20000);
  return `${(await response.arrayBuffer()).byteLength} bytes`;
}

/** The first words of an answer that never ends. */
async function beginning(reader) {
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

const idOf = (method, path) => `${method}${path.replaceAll(/[^a-z0-9]+/gi, '-')}`;

const METHODS = ['get', 'post', 'put', 'delete'];
const routes = Object.entries(spec.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({
    path,
    method,
    operation: item[method],
    shared: item.parameters,
  })),
);
byId('title').textContent = `${spec.info.title} ${spec.info.version}`;
byId('description').textContent = spec.info.description ?? '';
byId('contents').append(
  ...routes.map(({ path, method }) =>
    make(
      'a',
      { href: `#${idOf(method, path)}` },
      make('span', { className: `method ${method}` }, method.toUpperCase()),
      code(path),
    ),
  ),
);
byId('routes').append(
  ...routes.map(({ path, method, operation, shared }) => route(path, method, operation, shared)),
);
