import { type JsonObject } from '../../../../../shared/api/well-known.ts';
import { type DumpedResource } from '../../../../../supervisor/admin/admin-context.ts';

/** A resource as the dump gets it. */

export const LAST_UPDATED_MS = Date.parse('2026-01-02T03:04:05.678Z');

export const SECRET = 'very-secret-value';

export function resource(message: JsonObject): DumpedResource {
  const name = (message['name'] ?? message['cluster_name']) as string;
  return { name, versionInfo: '', lastUpdatedMs: LAST_UPDATED_MS, message };
}
