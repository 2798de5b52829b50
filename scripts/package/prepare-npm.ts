/** The last step before `npm pack`: compresses the packed files, which the package has in that form alone. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const dist = join(import.meta.dirname, '..', '..');
/** Above it a twentieth less takes ten times as long. */
const QUALITY = 9;
const PACKED_FOLDERS = ['src', 'src/commands/explain', 'workers/process'];

for (const folder of PACKED_FOLDERS) {
  for (const file of readdirSync(join(dist, folder))) {
    if (!/-[A-Z0-9]{8}\.cjs$/.test(file)) continue;
    const path = join(dist, folder, file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
    writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path), { params }));
  }
}
