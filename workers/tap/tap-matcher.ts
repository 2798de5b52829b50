/**
 * Whether a request is to be recorded, decided while it passes: each part of it may settle some of
 * the rules. Made once per settings; a `MatchProgress` is made per request.
 */
import type { TapMatch } from '../../shared/resources/tap.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { compileHeaderMatchers } from '../../shared/matchers/header-matcher.ts';
import { BodySearch } from './body-search.ts';

type HeaderPart = Extract<TapMatch, { readonly kind: 'headers' }>['of'];

/** What is known so far. */
interface MatchStatus {
  readonly matches: boolean;
  readonly mightChange: boolean;
}

export interface MatchProgress {
  readonly status: MatchStatus;
  onHeaders(part: HeaderPart, headers: HeaderMap): void;
  onBody(of: 'request' | 'response', data: Buffer): void;
}

export type TapMatcher = () => MatchProgress;

const YES: MatchStatus = { matches: true, mightChange: false };
const NO: MatchStatus = { matches: false, mightChange: false };
const OPEN: MatchStatus = { matches: false, mightChange: true };

export function compileTapMatch(match: TapMatch): TapMatcher {
  switch (match.kind) {
    case 'any':
      return () => ANY;
    case 'not': {
      const rule = compileTapMatch(match.rule);
      return () => new Negated(rule());
    }
    case 'or':
    case 'and': {
      const rules = match.rules.map(compileTapMatch);
      return () =>
        new Combined(
          match.kind,
          rules.map((rule) => rule()),
        );
    }
    case 'headers': {
      const predicate = compileHeaderMatchers(match.matchers);
      return () => new HeaderMatch(match.of, predicate);
    }
    case 'body': {
      const patterns = match.patterns.map((pattern) => Buffer.from(pattern, 'base64'));
      return () => new BodyMatch(match.of, new BodySearch(patterns, match.bytesLimit));
    }
  }
}

const ANY: MatchProgress = {
  status: YES,
  onHeaders: () => undefined,
  onBody: () => undefined,
};

class Negated implements MatchProgress {
  readonly #rule: MatchProgress;

  constructor(rule: MatchProgress) {
    this.#rule = rule;
  }

  get status(): MatchStatus {
    const { matches, mightChange } = this.#rule.status;
    return { matches: !matches, mightChange };
  }

  onHeaders(part: HeaderPart, headers: HeaderMap): void {
    this.#rule.onHeaders(part, headers);
  }

  onBody(of: 'request' | 'response', data: Buffer): void {
    this.#rule.onBody(of, data);
  }
}

class Combined implements MatchProgress {
  readonly #kind: 'or' | 'and';
  readonly #rules: readonly MatchProgress[];

  constructor(kind: 'or' | 'and', rules: readonly MatchProgress[]) {
    this.#kind = kind;
    this.#rules = rules;
  }

  get status(): MatchStatus {
    const all = this.#rules.map(({ status }) => status);
    const deciding = this.#kind === 'or';
    if (all.some(({ matches, mightChange }) => matches === deciding && !mightChange)) {
      return deciding ? YES : NO;
    }
    const matches = deciding ? all.some((one) => one.matches) : all.every((one) => one.matches);
    return { matches, mightChange: all.some((one) => one.mightChange) };
  }

  onHeaders(part: HeaderPart, headers: HeaderMap): void {
    for (const rule of this.#rules) rule.onHeaders(part, headers);
  }

  onBody(of: 'request' | 'response', data: Buffer): void {
    for (const rule of this.#rules) rule.onBody(of, data);
  }
}

class HeaderMatch implements MatchProgress {
  status: MatchStatus = OPEN;
  readonly #part: HeaderPart;
  readonly #predicate: ((headers: HeaderMap) => boolean) | undefined;

  constructor(part: HeaderPart, predicate: ((headers: HeaderMap) => boolean) | undefined) {
    this.#part = part;
    this.#predicate = predicate;
  }

  onHeaders(part: HeaderPart, headers: HeaderMap): void {
    if (part !== this.#part) return;
    this.status = this.#predicate?.(headers) === false ? NO : YES;
  }

  onBody(): void {
    // Bodies say nothing of headers.
  }
}

class BodyMatch implements MatchProgress {
  status: MatchStatus = OPEN;
  readonly #of: 'request' | 'response';
  readonly #search: BodySearch;

  constructor(of: 'request' | 'response', search: BodySearch) {
    this.#of = of;
    this.#search = search;
  }

  onHeaders(): void {
    // Headers say nothing of bodies.
  }

  onBody(of: 'request' | 'response', data: Buffer): void {
    if (of !== this.#of || !this.status.mightChange) return;
    this.#search.take(data);
    if (this.#search.foundAll) this.status = YES;
    else if (this.#search.isOver) this.status = NO;
  }
}
