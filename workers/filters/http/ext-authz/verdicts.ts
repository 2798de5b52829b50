/** Carries out what came of a check: the request passes, with changes, or is answered here. */
import type { ExtAuthzOptions } from '../../../../shared/resources/filters/http/ext-authz.ts';
import { dictionary } from '../../../../shared/text/dictionary.ts';
import type { LoopClock } from '../../../loop/loop-clock.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import { addMetadata } from '../../common/add-metadata.ts';
import { compileMutationRules } from '../../common/mutation-rules.ts';
import {
  applyToAnswer,
  applyToRequest,
  changesRequest,
  type ChangeRules,
} from './apply-changes.ts';
import type { AuthzStats } from './authz-stats.ts';
import {
  type Allowed,
  type CheckFailed,
  type CheckOutcome,
  type Denied,
  NO_RESPONSE_EDITS,
  type ResponseEdits,
} from './check.ts';

const NAMESPACE = 'envoy.filters.http.ext_authz';

export class Verdicts {
  readonly #own: ExtAuthzOptions;
  readonly #stats: AuthzStats;
  readonly #clock: LoopClock;
  readonly #rules: ChangeRules;

  constructor(own: ExtAuthzOptions, stats: AuthzStats, clock: LoopClock) {
    this.#own = own;
    this.#stats = stats;
    this.#clock = clock;
    const { mutationRules } = own;
    this.#rules = {
      validates: own.validatesMutations,
      check: mutationRules && compileMutationRules(mutationRules),
    };
  }

  /** What the response is to be given; undefined: the request was answered. */
  carryOut(
    outcome: CheckOutcome,
    headers: HeaderMap,
    callbacks: FilterCallbacks,
    askedMs: number,
  ): ResponseEdits | undefined {
    this.#keepMetadata(outcome, callbacks, askedMs);
    if (outcome.kind === 'ok') return this.#allow(outcome, headers, callbacks);
    if (this.#own.isShadow) return this.#note(outcome, callbacks);
    if (outcome.kind === 'error') return this.#fail(outcome, headers, callbacks);
    this.#deny(outcome, callbacks);
    return undefined;
  }

  /** Notes the result of a check on trial, which refuses nothing. */
  #note({ kind }: Denied | CheckFailed, { route }: FilterCallbacks): ResponseEdits {
    this.#stats.countFor(route, kind);
    this.#stats.count(`shadow_${kind}`);
    return NO_RESPONSE_EDITS;
  }

  #keepMetadata(outcome: CheckOutcome, { info }: FilterCallbacks, askedMs: number): void {
    const { metadata } = outcome;
    if (metadata === undefined || Object.keys(metadata).length === 0) return;
    if (!this.#own.ingestsMetadata) return this.#stats.count('ignored_dynamic_metadata');
    const whole = dictionary<unknown>(Object.entries(metadata));
    if (outcome.kind === 'ok') whole['ext_authz_duration'] = Math.floor(this.#clock.ms - askedMs);
    addMetadata(info, NAMESPACE, whole);
  }

  #allow(
    outcome: Allowed,
    headers: HeaderMap,
    callbacks: FilterCallbacks,
  ): ResponseEdits | undefined {
    const { route } = callbacks;
    if (!applyToRequest(headers, outcome, this.#rules)) {
      this.#stats.countFor(route, 'invalid');
      refuse(callbacks, 500, 'ext_authz_invalid');
      return undefined;
    }
    this.#stats.countFor(route, 'ok');
    if (this.#own.clearsRoute && changesRequest(outcome)) callbacks.clearRoute();
    return outcome.response;
  }

  #deny({ status, body, headers }: Denied, callbacks: FilterCallbacks): void {
    const { route } = callbacks;
    this.#stats.countFor(route, 'denied');
    this.#stats.charge(route, status);
    answer(callbacks, { status, body: this.#cut(body), headers, details: 'ext_authz_denied' });
  }

  #fail(
    { answer: own }: CheckFailed,
    headers: HeaderMap,
    callbacks: FilterCallbacks,
  ): ResponseEdits | undefined {
    const { route } = callbacks;
    const { failureModeAllow, addsFailureHeader, statusOnError } = this.#own;
    this.#stats.countFor(route, 'error');
    if (failureModeAllow) {
      this.#stats.countFor(route, 'failure_mode_allowed');
      if (addsFailureHeader) headers.add('x-envoy-auth-failure-mode-allowed', 'true');
      return NO_RESPONSE_EDITS;
    }
    const details = 'ext_authz_error';
    if (own === undefined) refuse(callbacks, statusOnError, details);
    else answer(callbacks, { ...own, body: this.#cut(own.body), details });
    return undefined;
  }

  #cut(body: string): string {
    const { deniedBodyBytesMax: limit } = this.#own;
    return limit > 0 ? body.slice(0, limit) : body;
  }
}

/** With nothing but a status. */
export function refuse(callbacks: FilterCallbacks, status: number, details: string): void {
  answer(callbacks, { status, body: '', headers: [], details });
}

function answer(
  callbacks: FilterCallbacks,
  { headers, ...reply }: Pick<Denied, 'status' | 'body' | 'headers'> & { readonly details: string },
): void {
  callbacks.info.responseFlags |= ResponseFlag.unauthorizedExternalService;
  callbacks.sendLocalReply({
    ...reply,
    modifyHeaders: (told) => applyToAnswer(told, headers),
  });
}
