/**
 * Rules whose expressions only ECMAScript knows: V8 runs them with a limit of time, and one that
 * takes too long is not asked again.
 */
import { runLimited } from './match-limit.ts';
import type { TagMatch, TagRule } from './tag-rule.ts';

/** Times that one call may take too long: once may be the machine's fault. */
const SLOW_MAX = 3;

/** What the rules found in one name. */
export type FoundMatches = ReadonlyMap<TagRule, TagMatch | undefined>;

export class UnprovedRules {
  readonly #rules: Set<TagRule>;
  readonly #onTooSlow: (rule: TagRule) => void;

  constructor(rules: readonly TagRule[], onTooSlow: (rule: TagRule) => void) {
    this.#rules = new Set(rules);
    this.#onTooSlow = onTooSlow;
  }

  matchesOf(names: readonly string[]): readonly FoundMatches[] {
    const found = names.map(() => new Map<TagRule, TagMatch | undefined>());
    let asked: TagRule | undefined;
    let [at, times] = [0, 0];
    const matchRest = (): void => {
      for (; at < names.length; at++) {
        for (const rule of this.#rules) {
          asked = rule;
          found[at]?.set(rule, rule.match(names[at] ?? ''));
        }
      }
    };
    while (this.#rules.size > 0 && !runLimited(matchRest)) {
      times += 1;
      if (asked === undefined || times < SLOW_MAX) continue;
      times = 0;
      this.#rules.delete(asked);
      this.#onTooSlow(asked);
    }
    return found;
  }
}
