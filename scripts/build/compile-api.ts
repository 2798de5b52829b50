/**
 * Compiles the .proto files to descriptors and types, unless their text and this compiler are
 * unchanged.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listProtoSources } from './api-sources.ts';
import { fieldComments, packedComments } from './field-comments.ts';
import { addProtoFile, emptyModel, resolveModel } from './proto-model.ts';
import { writeDescriptor } from './write-descriptor.ts';
import { writeTypes } from './write-types.ts';

/** Returns the hash of everything the API was made from. */
export function compileApi(projectRoot: string): string {
  const sources = listProtoSources(projectRoot).map((source) => ({
    ...source,
    text: readFileSync(source.path, 'utf8'),
  }));
  const hash = createHash('sha256');
  for (const file of readdirSync(import.meta.dirname).sort()) {
    if (file.endsWith('.js')) {
      hash.update(readFileSync(join(import.meta.dirname, file)));
    }
  }
  hash.update(readFileSync(join(projectRoot, 'dist', 'shared', 'api', 'package-archive.js')));
  for (const source of sources) {
    hash.update(`${source.importPath}\0${source.text}\0`);
  }
  const digest = hash.digest('hex');
  const output = join(projectRoot, 'dist', 'shared', 'api');
  const types = join(projectRoot, 'shared', 'api', 'generated');
  const mark = join(output, 'inputs.sha256');
  if (existsSync(types) && existsSync(mark) && readFileSync(mark, 'utf8') === digest) {
    return digest;
  }
  const model = emptyModel();
  for (const source of sources) {
    addProtoFile(model, source.importPath, source.text);
  }
  resolveModel(model);
  const comments = packedComments(fieldComments(sources));
  writeDescriptor(model, join(output, 'packages.archive'), comments);
  writeTypes(model, types);
  writeFileSync(mark, digest);
  return digest;
}
