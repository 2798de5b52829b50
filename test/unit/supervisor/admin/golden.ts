/** Envoy's pages as they were recorded, with ports, paths and times made constant. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../../../test/unit/supervisor/admin/golden');

export function golden(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}
