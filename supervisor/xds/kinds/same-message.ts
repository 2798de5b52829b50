/** Whether two normalised messages say the same, whatever the order of their fields. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../shared/api/well-known.ts';

export function isSameMessage(left: JsonObject, right: JsonObject): boolean {
  return isDeepStrictEqual(left, right);
}
