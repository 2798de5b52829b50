/** Build steps that come before the main compilation: the API's descriptors and types, the build stamp. */
import { join } from 'node:path';
import { writeBuildStamp } from './build-stamp.ts';
import { compileApi } from './compile-api.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..');
writeBuildStamp(projectRoot, compileApi(projectRoot));
