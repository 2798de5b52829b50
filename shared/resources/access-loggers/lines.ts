/** The access loggers that write lines: to a file, to stdout or to stderr. */
import type { AccessLogFilter, AccessLogFormat } from '../access-log.ts';

export interface LineLogConfig {
  readonly kind: 'lines';
  readonly sink:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'stdout' | 'stderr' };
  readonly format: AccessLogFormat;
  readonly filter?: AccessLogFilter;
}
