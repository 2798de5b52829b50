/**
 * Reads envoy.config.core.v3.DataSource: bytes from the configuration, a file or the environment.
 */
import { environmentVariable } from '../../shared/process/environment.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorText } from '../../shared/text/error-text.ts';
import type { DataSource } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import { readConfiguredFileNow, RefusedFileError } from '../config/configured-file.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import type { Scope } from './scope.ts';

const FIELDS = knownFields<DataSource>([
  'filename',
  'inline_bytes',
  'inline_string',
  'environment_variable',
]);

/**
 * Undefined after a reported problem. A file is read now and not watched; `missing` gives the
 * reference's words for a file that is not there, which differ from place to place.
 */
export function readDataSource(
  source: DataSource,
  scope: Scope,
  missing = (path: string): string => `Invalid path: ${path}`,
): Buffer | undefined {
  refuseOtherFields(source, FIELDS, scope);
  if (source.filename !== undefined) {
    return readFile(source.filename, scope.at('filename'), missing);
  }
  if (source.inline_bytes !== undefined) return Buffer.from(source.inline_bytes, 'base64');
  if (source.environment_variable === undefined) return Buffer.from(source.inline_string ?? '');
  const value = environmentVariable(source.environment_variable);
  if (value !== undefined) return Buffer.from(value);
  scope
    .at('environment_variable')
    .error('reference', `Environment variable doesn't exist: ${source.environment_variable}`);
  return undefined;
}

/** The same where there has to be something: undefined after a reported problem, never empty. */
export function readFilledSource(source: DataSource | undefined, scope: Scope): Buffer | undefined {
  if (source === undefined) {
    scope.error('conflict', 'Unexpected DataSource::specifier_case(): 0');
    return undefined;
  }
  const content = readDataSource(source, scope);
  if (content?.length !== 0) return content;
  const { filename } = source;
  scope.error(
    'file',
    filename === undefined ? 'DataSource cannot be empty' : `file ${filename} is empty`,
  );
  return undefined;
}

/** Whether `--validate-skip-secrets` leaves this source alone: what it holds stands elsewhere. */
export function isSkippedSecret(source: DataSource | undefined, { context }: Scope): boolean {
  if (context.skipSecrets !== true || source === undefined) return false;
  return source.filename !== undefined || source.environment_variable !== undefined;
}

function readFile(
  path: string,
  scope: Scope,
  missing: (path: string) => string,
): Buffer | undefined {
  if (!existsSync(path)) {
    scope.error('file', missing(path), `there is no file ${resolve(path)}`);
    return undefined;
  }
  try {
    return readConfiguredFileNow(path);
  } catch (error) {
    const words = error instanceof RefusedFileError ? error.reference : undefined;
    scope.error('file', words ?? `cannot read file '${path}': ${errorText(error)}`);
    return undefined;
  }
}
