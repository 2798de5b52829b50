/** Makes the changes to headers and trailers that a processor asked for. */
import { headerName } from '../../../stream/header-names.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import {
  addHeader,
  JOINED_IN_REQUESTS,
  JOINED_IN_RESPONSES,
} from '../../../stream/joined-headers.ts';
import { isFitField } from '../../../stream/permitted.ts';
import { compileMutationRules, type MutationCheck } from '../../common/mutation-rules.ts';
import type { ExtProcOptions } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { HeaderChange, HeaderMutation } from './messages.ts';

/** What one answer may change, and how large a head may be afterwards. */
const CHANGES_MAX = 100;
const HEAD_BYTES_MAX = 60 * 1024;
const STATUS_MIN = 200;
const STATUS_MAX = 999;
const LENGTH = 'content-length';

/** Undefined: all was done; else the response code details of what may not be. */
export type MutationFault =
  | undefined
  | 'header_mutation_operation_count_exceeds_limit'
  | 'header_mutation_set_contains_invalid_character'
  | 'header_mutation_remove_contains_invalid_character'
  | 'header_mutation_remove_headers_failed'
  | 'header_mutation_set_headers_failed'
  | 'header_mutation_result_exceeds_limit';

export class HeaderMutations {
  readonly #check: MutationCheck;
  readonly #keepsLength: boolean;
  readonly #countRejected: () => void;

  constructor(
    {
      mutationRules,
      keepsContentLength,
    }: Pick<ExtProcOptions, 'mutationRules' | 'keepsContentLength'>,
    countRejected: () => void,
  ) {
    this.#check = compileMutationRules(mutationRules);
    this.#keepsLength = keepsContentLength;
    this.#countRejected = countRejected;
  }

  /** `setsLength`: the body is known in whole, so that its length may be said. */
  apply(headers: HeaderMap, mutation: HeaderMutation, setsLength: boolean): MutationFault {
    const { set, remove } = mutation;
    let fault: MutationFault;
    if (set.length > CHANGES_MAX || remove.length > CHANGES_MAX) {
      fault = 'header_mutation_operation_count_exceeds_limit';
    }
    fault ??= this.#remove(headers, remove);
    fault ??= this.#set(headers, set, setsLength || this.#keepsLength);
    if (fault === undefined && exceeds(headers)) fault = 'header_mutation_result_exceeds_limit';
    if (fault !== undefined) this.#countRejected();
    return fault;
  }

  #remove(headers: HeaderMap, names: readonly string[]): MutationFault {
    for (const name of names) {
      if (!isWellFormed(name, '')) return 'header_mutation_remove_contains_invalid_character';
      const verdict = this.#check('remove', name, '');
      if (verdict === 'failed') return 'header_mutation_remove_headers_failed';
      if (verdict === 'allowed') headers.remove(name);
      else this.#countRejected();
    }
    return undefined;
  }

  #set(headers: HeaderMap, changes: readonly HeaderChange[], setsLength: boolean): MutationFault {
    for (const change of changes) {
      const { name, value, appends } = change;
      if (name === '') continue;
      if (name === LENGTH && !setsLength) {
        this.#countRejected();
        continue;
      }
      if (!isWellFormed(name, value)) return 'header_mutation_set_contains_invalid_character';
      const verdict = this.#check(appends && headers.has(name) ? 'append' : 'set', name, value);
      if (verdict === 'failed') return 'header_mutation_set_headers_failed';
      if (verdict === 'ignored' || !isPlausible(name, value)) this.#countRejected();
      else if (appends) addHeader(headers, name, value, joinedIn(headers));
      else headers.set(name, value);
    }
    return undefined;
  }
}

function joinedIn({ status }: HeaderMap): ReadonlySet<string> {
  return status === 0 ? JOINED_IN_REQUESTS : JOINED_IN_RESPONSES;
}

function exceeds(headers: HeaderMap): boolean {
  return headers.wholeCount > CHANGES_MAX || headers.byteSize() > HEAD_BYTES_MAX;
}

/** How a body is framed is no concern of a processor, but its coding is refused further on. */
function isWellFormed(name: string, value: string): boolean {
  const plain = name.startsWith(':') ? name.slice(1) : name;
  return headerName(plain) !== undefined && isFitField('x', value);
}

/** Statuses that no response can have, and what decides where a message ends. */
function isPlausible(name: string, value: string): boolean {
  if (name !== ':status') return name.startsWith(':') || isFitField(name, value);
  const status = Number(value);
  return /^\d{3}$/.test(value) && status >= STATUS_MIN && status <= STATUS_MAX;
}
