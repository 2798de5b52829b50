/**
 * The questions of `npm run bench` about filters in TypeScript: Sluice runs a module, Envoy what it
 * has for the same task.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BootstrapParts, FilterParts } from '../support/bootstrap.ts';
import { type Question, throughput } from '../support/questions.ts';

const TYPE = 'type.googleapis.com';
const UNIT = 'requests/s, GET of 13 bytes, 64 connections';
const KEEP_ALIVE = throughput({ connections: 64 });

const EMPTY = `import { defineFilter } from 'sluice/filter';
export default defineFilter({ create: () => ({}) });
`;
const TWO_HEADERS = `import { defineFilter } from 'sluice/filter';
export default defineFilter({
  create: () => ({
    onRequestHeaders(headers) {
      headers.set('x-agent', headers.get('user-agent') ?? 'none');
      headers.set('x-host', headers.authority);
    },
  }),
});
`;

const lua = {
  name: 'lua',
  typed_config: {
    '@type': `${TYPE}/envoy.extensions.filters.http.lua.v3.Lua`,
    default_source_code: {
      inline_string: `function envoy_on_request(handle)
  local headers = handle:headers()
  headers:replace("x-agent", headers:get("user-agent") or "none")
  headers:replace("x-host", headers:get(":authority"))
end`,
    },
  },
};

function setHeader(key: string, value: string): object {
  return { append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' } };
}

const mutation = {
  name: 'header_mutation',
  typed_config: {
    '@type': `${TYPE}/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation`,
    mutations: {
      request_mutations: [
        setHeader('x-agent', '%REQ(user-agent)%'),
        setHeader('x-host', '%REQ(:authority)%'),
      ],
    },
  },
};

/** The module for Sluice, and for Envoy what stands in its place. */
function module(text: string, others: readonly object[]) {
  return ({ isSluice = false, folder = tmpdir(), port }: BootstrapParts): FilterParts => {
    if (!isSluice) return { http_filters: others };
    const file = join(folder, `filter-${port}.js`);
    writeFileSync(file, text);
    const type = `${TYPE}/sluice.filters.http.script.v1.Script`;
    return { http_filters: [{ name: 'script', typed_config: { '@type': type, file } }] };
  };
}

export const scriptQuestions: readonly Question[] = [
  {
    name: 'script-empty',
    unit: `${UNIT}, a module without functions beside no filter`,
    filters: module(EMPTY, []),
    measure: KEEP_ALIVE,
  },
  {
    name: 'script-lua',
    unit: `${UNIT}, a module that reads and sets two headers beside Lua`,
    toReference: 2,
    filters: module(TWO_HEADERS, [lua]),
    measure: KEEP_ALIVE,
  },
  {
    name: 'script-mutation',
    unit: `${UNIT}, the same beside header_mutation`,
    toReference: 1.2,
    filters: module(TWO_HEADERS, [mutation]),
    measure: KEEP_ALIVE,
  },
];
