/** One value that a set_filter_state filter keeps. */
import type { AccessLogFormat } from '../../access-log.ts';

export type SharedWith = 'ONCE' | 'TRANSITIVE';

export interface FilterStateValue {
  readonly key: string;
  readonly format: AccessLogFormat;
  readonly skipsEmpty: boolean;
  /** Nothing replaces it later. */
  readonly isReadOnly: boolean;
  /** Handed on to the listener inside that a connection goes to: to the first, or to all on its way. */
  readonly shared?: SharedWith;
  /** Balancers may hash it. */
  readonly isHashable: boolean;
}
