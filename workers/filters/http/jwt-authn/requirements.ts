/** What a request has to prove: a tree of requirements, compiled once, verified per request. */
import type { JwtStatus } from '../../../../shared/jwt/jwt-status.ts';
import type { JwtRequirement } from '../../../../shared/resources/filters/http/jwt-authn.ts';
import { Authenticator, type AuthenticatorRules, type TokenRequest } from './authenticator.ts';
import { comparableAudiences, type Provider } from './provider.ts';
import { TokenPlaces } from './token-places.ts';

/** A request while it is verified; ends all that is under way for it. */
export interface Verification extends TokenRequest {
  onEnd(cancel: () => void): void;
}

type Done = (status: JwtStatus) => void;

export interface Requirement {
  /** `done` is called once, maybe before this returns. */
  verify(request: Verification, done: Done): void;
}

export class RequirementCompiler {
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #byIssuer: (issuer: string) => Provider | undefined;
  readonly #allPlaces: TokenPlaces;

  constructor(providers: ReadonlyMap<string, Provider>) {
    this.#providers = providers;
    const issuers = new Map<string, Provider>();
    for (const provider of providers.values()) {
      const { issuer } = provider.settings;
      if (!issuers.has(issuer)) issuers.set(issuer, provider);
    }
    this.#byIssuer = (issuer) => issuers.get(issuer);
    this.#allPlaces = new TokenPlaces([...providers.values()].map(({ settings }) => settings));
  }

  /** Undefined where nothing is asked for. */
  compile(requirement: JwtRequirement): Requirement | undefined {
    switch (requirement.kind) {
      case 'none':
        return undefined;
      case 'provider':
        return this.#compileProvider(requirement.provider, requirement.audiences);
      case 'any':
        return this.#compileAny(requirement.requirements);
      case 'all':
        return new AllOf(this.#compileParts(requirement.requirements));
      case 'allow_missing':
      case 'allow_missing_or_failed':
        return this.#allow(requirement.kind);
      case 'extract_only':
        return this.#allow('allow_missing_or_failed', requirement.failureHeader);
    }
  }

  #compileParts(requirements: readonly JwtRequirement[]): readonly Requirement[] {
    const compiled = requirements.map((each) => this.compile(each));
    return compiled.filter((each) => each !== undefined);
  }

  #compileProvider(name: string, audiences: readonly string[] | undefined): Requirement {
    const provider = this.#providers.get(name);
    if (provider === undefined) throw new Error(`no provider ${name}`);
    return new OfTokens(new TokenPlaces([provider.settings]), {
      provider,
      audiences: audiences && comparableAudiences(audiences),
      byIssuer: this.#byIssuer,
      allowsFailed: false,
      allowsMissing: false,
    });
  }

  #allow(kind: 'allow_missing' | 'allow_missing_or_failed', failureHeader?: string): Requirement {
    return new OfTokens(this.#allPlaces, {
      provider: undefined,
      audiences: undefined,
      byIssuer: this.#byIssuer,
      allowsFailed: kind === 'allow_missing_or_failed',
      allowsMissing: kind === 'allow_missing',
      ...(failureHeader === undefined ? {} : { failureHeader }),
    });
  }

  /** What allows tokens to be missing says how the others together may fail. */
  #compileAny(requirements: readonly JwtRequirement[]): Requirement {
    const allowsFailed = requirements.some(({ kind }) => kind === 'allow_missing_or_failed');
    const allowsMissing = requirements.some(({ kind }) => kind === 'allow_missing');
    const rest = requirements.filter(
      ({ kind }) => kind !== 'allow_missing' && kind !== 'allow_missing_or_failed',
    );
    if (rest.length === 0) {
      return this.#allow(allowsFailed ? 'allow_missing_or_failed' : 'allow_missing');
    }
    return new AnyOf(this.#compileParts(rest), allowsFailed, allowsMissing);
  }
}

/** The tokens that stand at some places. */
class OfTokens implements Requirement {
  readonly #places: TokenPlaces;
  readonly #rules: AuthenticatorRules;

  constructor(places: TokenPlaces, rules: AuthenticatorRules) {
    this.#places = places;
    this.#rules = rules;
  }

  verify(request: Verification, done: Done): void {
    this.#places.sanitize(request.headers);
    const { failureHeader } = this.#rules;
    if (failureHeader !== undefined) request.headers.remove(failureHeader);
    const tokens = this.#places.find(request.headers);
    const authenticator = new Authenticator(this.#rules, request, tokens, done);
    request.onEnd(() => authenticator.cancel());
    authenticator.start();
  }
}

class AllOf implements Requirement {
  readonly #parts: readonly Requirement[];

  constructor(parts: readonly Requirement[]) {
    this.#parts = parts;
  }

  verify(request: Verification, done: Done): void {
    let open = this.#parts.length;
    let isOver = false;
    const settle = (status: JwtStatus): void => {
      open--;
      if (isOver || (status === 'ok' && open > 0)) return;
      isOver = true;
      done(status);
    };
    if (open === 0) return done('ok');
    for (const part of this.#parts) {
      if (isOver) return;
      part.verify(request, settle);
    }
  }
}

class AnyOf implements Requirement {
  readonly #parts: readonly Requirement[];
  readonly #allowsFailed: boolean;
  readonly #allowsMissing: boolean;

  constructor(parts: readonly Requirement[], allowsFailed: boolean, allowsMissing: boolean) {
    this.#parts = parts;
    this.#allowsFailed = allowsFailed;
    this.#allowsMissing = allowsMissing;
  }

  verify(request: Verification, done: Done): void {
    const statuses: JwtStatus[] = [];
    let open = this.#parts.length;
    let isOver = false;
    for (const [index, part] of this.#parts.entries()) {
      if (isOver) return;
      part.verify(request, (status) => {
        if (isOver) return;
        statuses[index] = status;
        open--;
        if (status !== 'ok' && open > 0) return;
        isOver = true;
        done(status === 'ok' ? 'ok' : this.#failure(statuses));
      });
    }
  }

  /** The last error that says something of a token, if one does. */
  #failure(statuses: readonly JwtStatus[]): JwtStatus {
    if (this.#allowsFailed) return 'ok';
    let failure: JwtStatus = 'missing';
    for (const status of statuses) {
      const saysLittle = status === 'missing' || status === 'unknownIssuer';
      if (!saysLittle || failure === 'missing') failure = status;
    }
    return failure === 'missing' && this.#allowsMissing ? 'ok' : failure;
  }
}
