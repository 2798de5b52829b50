/**
 * Splits names of statistics into a name without tags and the tags, by an ordered list of rules.
 * Two rules for one tag: the first that matches wins, and the other leaves the name as it is.
 */
import { withoutLastDots } from '../../../shared/stats/stat-scope.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { UnprovedRules, type FoundMatches } from './unproved-rules.ts';
import type { TagMatch, TagRule } from './tag-rule.ts';

export interface ExtractedTag {
  readonly tag: string;
  readonly value: string;
  /** Where the value stands in the name; absent for a fixed tag. */
  readonly at?: TagMatch;
}

export interface ExtractedName {
  /** The name without what the rules removed and without dots at its end. */
  readonly name: string;
  /** In the order in which Envoy prints them. */
  readonly tags: readonly ExtractedTag[];
}

/** Envoy makes these before it reads its configuration, so that they never have tags. */
const UNTAGGED = 'filesystem.';
/** Names whose tags are looked for in one step. */
const EXTRACTED_PER_STEP = 16;

export class TagExtractor {
  /** Rules for every name: fixed tags, and rules without a first token. */
  readonly #general: readonly TagRule[];
  /** All rules that apply to a name with this first token, in their order. */
  readonly #applicable = new Map<string, TagRule[]>();
  readonly #unproved: UnprovedRules | undefined;

  /** `onTooSlow` is told of rules that are not asked again. */
  constructor(rules: readonly TagRule[], onTooSlow: (rule: TagRule) => void = () => undefined) {
    const unproved = rules.filter(({ isUnproved }) => isUnproved === true);
    if (unproved.length > 0) this.#unproved = new UnprovedRules(unproved, onTooSlow);
    this.#general = rules.filter((rule) => rule.firstToken === undefined);
    for (const rule of rules) {
      if (rule.firstToken === undefined) continue;
      const known = this.#applicable.get(rule.firstToken);
      if (known === undefined) this.#applicable.set(rule.firstToken, [...this.#general, rule]);
      else known.push(rule);
    }
  }

  /** Tags that every name has. */
  get fixedTags(): readonly ExtractedTag[] {
    return this.#general.flatMap(({ tag, fixedValue: value }) =>
      value === undefined ? [] : [{ tag, value }],
    );
  }

  extract(name: string): ExtractedName {
    const found = this.#unproved && atOnce(this.#unproved.matchesOf([name]));
    return this.#extract(name, found?.[0]);
  }

  /** In steps; cheaper than one by one where rules run with a limit of time. */
  *extractAll(names: readonly string[]): Steps<readonly ExtractedName[]> {
    const found = this.#unproved && (yield* this.#unproved.matchesOf(names));
    const extracted: ExtractedName[] = [];
    for (const name of names) {
      if (extracted.length % EXTRACTED_PER_STEP === 0) yield;
      extracted.push(this.#extract(name, found?.[extracted.length]));
    }
    return extracted;
  }

  #extract(name: string, found: FoundMatches | undefined): ExtractedName {
    if (name.startsWith(UNTAGGED)) return { name, tags: [] };
    const dot = name.indexOf('.');
    const rules = this.#applicable.get(dot === -1 ? name : name.slice(0, dot)) ?? this.#general;
    const tags: ExtractedTag[] = [];
    for (const rule of rules) {
      if (tags.some((known) => known.tag === rule.tag)) continue;
      if (rule.fixedValue !== undefined) {
        tags.push({ tag: rule.tag, value: rule.fixedValue });
        continue;
      }
      const at = rule.isUnproved === true ? found?.get(rule) : rule.match(name);
      if (at === undefined) continue;
      const value = withoutLastDots(name.slice(at.valueStart, at.valueEnd));
      tags.push({ tag: rule.tag, value, at });
    }
    return { name: withoutLastDots(withoutRemoved(name, tags)), tags };
  }
}

function withoutRemoved(name: string, tags: readonly ExtractedTag[]): string {
  const ranges = tags.flatMap(({ at }) => (at === undefined ? [] : [at]));
  if (ranges.length === 0) return name;
  ranges.sort((a, b) => a.removeStart - b.removeStart);
  let kept = '';
  let position = 0;
  for (const { removeStart, removeEnd } of ranges) {
    if (removeStart > position) kept += name.slice(position, removeStart);
    position = Math.max(position, removeEnd);
  }
  return kept + name.slice(position);
}
