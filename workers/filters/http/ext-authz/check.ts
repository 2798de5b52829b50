/** What a check is asked, and what may come of it, whatever the service speaks. */
import type { Dictionary, Struct } from '../../../../shared/text/dictionary.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';

/** Texts of one character per byte; names in lower case where the service decides on headers. */
export type HeaderPair = readonly [name: string, value: string];

export interface CheckedRequest {
  readonly headers: HeaderMap;
  readonly info: StreamInfo;
  readonly route: ResolvedRoute | undefined;
  /** Absent where the body is not asked about, or there is none. */
  readonly body:
    | { readonly bytes: Buffer; readonly isPartial: boolean; readonly asBytes: boolean }
    | undefined;
  readonly contextExtensions: Dictionary<string>;
}

export interface Allowed {
  readonly kind: 'ok';
  readonly set: readonly HeaderPair[];
  /** As further entries. */
  readonly add: readonly HeaderPair[];
  /** To entries that are there. */
  readonly append: readonly HeaderPair[];
  readonly remove: readonly string[];
  readonly queryToSet: readonly HeaderPair[];
  readonly queryToRemove: readonly string[];
  readonly response: ResponseEdits;
  readonly metadata: Struct | undefined;
}

/** What the response to a request that passes is given. */
export interface ResponseEdits {
  readonly add: readonly HeaderPair[];
  readonly set: readonly HeaderPair[];
  readonly addIfAbsent: readonly HeaderPair[];
  readonly overwriteIfExists: readonly HeaderPair[];
}

export interface Denied {
  readonly kind: 'denied';
  readonly status: number;
  readonly body: string;
  readonly headers: readonly HeaderPair[];
  readonly metadata: Struct | undefined;
}

export interface CheckFailed {
  readonly kind: 'error';
  /** What the service itself wants said where it could not decide. */
  readonly answer?: Pick<Denied, 'status' | 'body' | 'headers'>;
  readonly metadata?: Struct | undefined;
}

export type CheckOutcome = Allowed | Denied | CheckFailed;

export const CHECK_FAILED: CheckFailed = { kind: 'error' };

export const NO_RESPONSE_EDITS: ResponseEdits = {
  add: [],
  set: [],
  addIfAbsent: [],
  overwriteIfExists: [],
};

/** The usual answer: the request passes as it is. */
export const NO_CHANGES: Allowed = {
  kind: 'ok',
  set: [],
  add: [],
  append: [],
  remove: [],
  queryToSet: [],
  queryToRemove: [],
  response: NO_RESPONSE_EDITS,
  metadata: undefined,
};

export interface CheckOwner {
  /** Once, unless it is cancelled; may be called before `check` returns. */
  onOutcome(outcome: CheckOutcome): void;
  onException(): void;
}

export interface Check {
  cancel(): void;
}

export interface Checker {
  check(request: CheckedRequest, owner: CheckOwner): Check;
}
