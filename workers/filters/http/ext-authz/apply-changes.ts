/** Makes the changes to a request and its response that a check asked for. */
import { headerName } from '../../../stream/header-names.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import {
  addHeader,
  JOINED_IN_REQUESTS,
  JOINED_IN_RESPONSES,
} from '../../../stream/joined-headers.ts';
import { isFitField } from '../../../stream/permitted.ts';
import type { MutationCheck, MutationKind } from '../../common/mutation-rules.ts';
import { QueryParameters } from '../../../../shared/text/query-parameters.ts';
import { type Allowed, type HeaderPair, NO_CHANGES, type ResponseEdits } from './check.ts';

export interface ChangeRules {
  readonly validates: boolean;
  readonly check: MutationCheck | undefined;
}

/** What a query may have without being encoded. */
const ENCODED = /^[A-Za-z0-9\-._~%!$'()*+,;:@/?=&]*$/;

/** Whether the request is another one after the changes. */
export function changesRequest(outcome: Allowed): boolean {
  const { set, append, remove, queryToSet, queryToRemove } = outcome;
  return [set, append, remove, queryToSet, queryToRemove].some((list) => list.length > 0);
}

/** False where a change may not be: the request is refused then, changed in part. */
export function applyToRequest(headers: HeaderMap, outcome: Allowed, rules: ChangeRules): boolean {
  if (outcome === NO_CHANGES) return true;
  return (
    each(outcome.set, 'set', rules, (name, value) => headers.set(name, value)) &&
    each(outcome.add, 'append', rules, (name, value) => add(headers, name, value)) &&
    each(outcome.append, 'append', rules, (name, value) => {
      if (headers.has(name)) headers.append(name, value);
    }) &&
    each(outcome.remove.map(withoutValue), 'remove', rules, (name) => {
      if (!name.startsWith(':') && name !== 'host') headers.remove(name);
    }) &&
    applyToQuery(headers, outcome, rules)
  );
}

function withoutValue(name: string): HeaderPair {
  return [name, ''];
}

function add(headers: HeaderMap, name: string, value: string): void {
  addHeader(headers, name, value, JOINED_IN_REQUESTS);
}

function each(
  pairs: readonly HeaderPair[],
  kind: MutationKind,
  { validates, check }: ChangeRules,
  change: (name: string, value: string) => void,
): boolean {
  for (const [name, value] of pairs) {
    if (validates && !isValid(name, value)) {
      // Names to be removed that cannot be there change nothing.
      if (kind === 'remove') continue;
      return false;
    }
    const verdict = check?.(kind, name, value) ?? 'allowed';
    if (verdict === 'failed') return false;
    if (verdict === 'allowed') change(name, value);
  }
  return true;
}

function isValid(name: string, value: string): boolean {
  const plain = name.startsWith(':') ? name.slice(1) : name;
  return headerName(plain) !== undefined && isFitField(plain, value);
}

function applyToQuery(
  headers: HeaderMap,
  { queryToSet, queryToRemove }: Allowed,
  { validates }: ChangeRules,
): boolean {
  if (queryToSet.length === 0 && queryToRemove.length === 0) return true;
  const query = new QueryParameters(headers.path);
  for (const [name, value] of queryToSet) {
    if (validates && !(ENCODED.test(name) && ENCODED.test(value))) return false;
    query.set(name, value);
  }
  for (const name of queryToRemove) query.remove(name);
  headers.path = query.toPath();
  return true;
}

export function applyToResponse(headers: HeaderMap, edits: ResponseEdits): void {
  for (const [name, value] of edits.add) addHeader(headers, name, value, JOINED_IN_RESPONSES);
  for (const [name, value] of edits.set) headers.set(name, value);
  for (const [name, value] of edits.addIfAbsent) {
    if (!headers.has(name)) headers.add(name, value);
  }
  for (const [name, value] of edits.overwriteIfExists) {
    if (headers.has(name)) headers.set(name, value);
  }
}

/** The headers of an answer that is made here: all values of a name replace what was there. */
export function applyToAnswer(headers: HeaderMap, told: readonly HeaderPair[]): void {
  for (const [name] of told) {
    if (!name.startsWith(':')) headers.remove(name);
  }
  for (const [name, value] of told) {
    if (!name.startsWith(':')) headers.add(name, value);
  }
}
