// Rewrites JSON bodies: renames members of requests, leaves members of responses out.
import { array, defineFilter, object, record, string } from 'sluice/filter';

function isJson(type: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type ?? '');
}

type Fields = Record<string, unknown>;

function parsed(body: Uint8Array): Fields | undefined {
  const value: unknown = JSON.parse(Buffer.from(body).toString());
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

export default defineFilter({
  schema: object({ rename: record(string()), hide: array(string()) }),
  create: ({ rename, hide }) => ({
    onRequestBody(body, { request }) {
      if (!isJson(request.get('content-type'))) return undefined;
      let fields: Fields | undefined;
      try {
        fields = parsed(body);
      } catch {
        return { status: 400, body: 'the body is no JSON\n' };
      }
      if (fields === undefined) return undefined;
      const renamed = Object.entries(fields).map(([key, value]) => [rename.get(key) ?? key, value]);
      return JSON.stringify(Object.fromEntries(renamed));
    },
    onResponseBody(body, { response }) {
      // A coded body would have to be decoded first.
      if (!isJson(response?.get('content-type')) || response?.has('content-encoding'))
        return undefined;
      const fields = parsed(body);
      if (fields === undefined) return undefined;
      const left = Object.entries(fields).filter(([key]) => !hide.includes(key));
      return JSON.stringify(Object.fromEntries(left));
    },
  }),
});
