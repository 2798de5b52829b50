/**
 * What is done with fields that the API does not know, in messages that come while the server runs.
 */
import type { Options } from '../../shared/process/options.ts';
import type { UnknownFields } from '../config/convert/reader-options.ts';

export function unknownFieldsOf(options: Options): UnknownFields {
  if (options.rejectUnknownDynamicFields) return 'refuse';
  return options.ignoreUnknownDynamicFields ? 'ignore' : 'warn';
}
