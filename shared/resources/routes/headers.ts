/** Header changes of routes, virtual hosts, weighted clusters and route configurations. */

export type HeaderAppendAction =
  | 'APPEND_IF_EXISTS_OR_ADD'
  | 'ADD_IF_ABSENT'
  | 'OVERWRITE_IF_EXISTS_OR_ADD'
  | 'OVERWRITE_IF_EXISTS';

export interface HeaderValueOption {
  /** Lower case. */
  readonly name: string;
  /**
   * A substitution format (`%REQ(:METHOD)%`), checked in the supervisor, compiled in the worker.
   */
  readonly format: string;
  readonly appendAction: HeaderAppendAction;
  readonly keepEmptyValue: boolean;
}

export interface HeaderChanges {
  readonly add: readonly HeaderValueOption[];
  /** Lower case names. */
  readonly remove: readonly string[];
}
