/** One value that a set_filter_state filter keeps. */
import type { AccessLogFormat } from '../../access-log.ts';

export interface FilterStateValue {
  readonly key: string;
  readonly format: AccessLogFormat;
  readonly skipsEmpty: boolean;
  /** Nothing replaces it later. */
  readonly isReadOnly: boolean;
  /** Balancers may hash it. */
  readonly isHashable: boolean;
}
