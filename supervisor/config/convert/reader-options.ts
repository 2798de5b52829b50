/**
 * How a message is read: with which types, and what is done with fields that the API does not
 * have.
 */
import type { ApiCatalog } from '../api/api-catalog.ts';
import type { Problem } from '../problem.ts';

/** What happens to a field that the API does not know. */
export type UnknownFields = 'refuse' | 'warn' | 'ignore';

export interface ReaderOptions {
  readonly catalog: ApiCatalog;
  readonly unknownFields: UnknownFields;
  /** The offset is where the mistake stands in the text that the tree was made from. */
  readonly report: (problem: Problem, offset: number) => void;
}
