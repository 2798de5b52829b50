/** The last step before `npm pack`: compresses the packed files, which the package has in that form alone. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const dist = join(import.meta.dirname, '..', '..');
const PACKED_FOLDERS = ['src', 'src/commands/explain', 'workers/process'];

for (const folder of PACKED_FOLDERS) {
  for (const file of readdirSync(join(dist, folder))) {
    if (!/-[A-Z0-9]{8}\.cjs$/.test(file)) continue;
    const path = join(dist, folder, file);
    const level = constants.Z_BEST_COMPRESSION;
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level }));
  }
}
