/** Checks that no two virtual hosts of a route configuration claim the same domain. */
import { asciiLower } from '../matchers/string-matcher.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { Scope } from '../scope.ts';

export class DomainCheck {
  readonly #routeName: string;
  readonly #seen = new Set<string>();

  constructor(routeName: string) {
    this.#routeName = routeName;
  }

  /** The domains as they are compared with a request's host: lower case bytes. */
  add(domains: readonly string[], scope: Scope): readonly string[] {
    return domains.map((domain, index) => {
      const wanted = asciiLower(toByteString(domain));
      if (this.#seen.has(wanted)) this.#report(asciiLower(domain), scope.at(index));
      this.#seen.add(wanted);
      return wanted;
    });
  }

  #report(domain: string, scope: Scope): void {
    const where = ` in route ${this.#routeName}`;
    scope.error(
      'duplicate',
      domain === '*'
        ? `Only a single wildcard domain is permitted${where}`
        : `Only unique values for domains are permitted. Duplicate entry of domain ${domain}${where}`,
    );
  }
}
