/** `/runtime` and `/runtime_modify`: the layers, their values, and overrides of the admin layer. */
import type { JsonValue } from '../../../shared/api/well-known.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { EndpointRequest } from '../admin-route.ts';
import type { RuntimeView } from '../../runtime/runtime-view.ts';
import { LazyObject } from '../json-printer.ts';
import { lazyJsonResponse, okResponse, textResponse } from '../http/responses.ts';

const USAGE =
  'usage: /runtime_modify?key1=value1&key2=value2&keyN=valueN\n' +
  '       or send the parameters as form values\n' +
  'use an empty value to remove a previously added override';

export function answerRuntime(context: AdminContext): AdminResponse {
  const entries = new LazyObject(printedEntries(context.runtime.entries()));
  const layers = [...context.runtime.layers()];
  return lazyJsonResponse(
    new LazyObject([
      ['entries', entries],
      ['layers', layers],
    ]),
  );
}

function* printedEntries(
  entries: ReturnType<RuntimeView['entries']>,
): Generator<readonly [string, JsonValue]> {
  for (const { key, layerValues, finalValue } of entries) {
    yield [key, { layer_values: layerValues, final_value: finalValue }];
  }
}

export async function answerRuntimeModify(
  request: EndpointRequest,
  context: AdminContext,
): Promise<AdminResponse> {
  if (request.query.size === 0) return textResponse(USAGE, 400);
  const refused = await context.runtime.modifyAdminLayer(new Map(request.query.entries()));
  return refused === undefined ? okResponse() : textResponse(refused, 503);
}
