/**
 * Finds for each block what its statistics are called without their tags, so that ten thousand
 * blocks which differ only in the values of tags share one answer. Names and labels are made from
 * it while a page is written; nothing is kept per statistic.
 *
 * A group holds, for each statistic of a template, the extracted name and its labels as texts with
 * holes; a block of the group fills the holes with the values that its prefix gives.
 */
import type { Steps } from '../../loop/loop-turns.ts';
import type { Definition } from '../stat-store.ts';
import { escapeLabelValue, labelName, labelText } from './prometheus-names.ts';
import type { ExtractedTag, TagExtractor } from './tag-extractor.ts';
import type { TagRule } from './tag-rule.ts';

/** Labels as they stand between braces: texts around the holes, one more than there are holes. */
export interface LabelTemplate {
  readonly texts: readonly string[];
  /** Which of the block's values stands in each hole. */
  readonly holes: readonly number[];
}

interface StatLabels {
  /** The name without tags, for example `cluster.upstream_rq_total`. */
  readonly name: string;
  readonly labels: LabelTemplate;
}

export interface TagGroup {
  /** By the offset within the block. */
  readonly stats: readonly StatLabels[];
}

export interface GroupedBlock {
  readonly group: TagGroup;
  /** Escaped values for the holes. */
  readonly values: readonly string[];
}

const FIRST_SWEEP = 256;
const CLUSTER_PREFIX = /^cluster\.([^.]+)\./;

export class TagGroups {
  readonly #extractor: TagExtractor;
  /** Whether a cluster's name can only ever be a value: true for the default rules. */
  readonly #clusterNamesAreValues: boolean;
  /**
   * Each is there as long as a block of it is: a key may say a name that no rule takes for a value.
   */
  readonly #groups = new Map<string, WeakRef<TagGroup>[]>();
  /** With this many keys those are looked for that have no group any more. */
  #sweepAt = FIRST_SWEEP;
  readonly #clusterGroups = new Map<string, TagGroup>();
  readonly #known = new WeakMap<Definition, GroupedBlock>();

  constructor(extractor: TagExtractor, customRules: readonly TagRule[]) {
    this.#extractor = extractor;
    this.#clusterNamesAreValues = customRules.every(
      (rule) => rule.fixedValue !== undefined && rule.tag !== 'envoy.cluster_name',
    );
  }

  /** The group of a block; finding one that is not known costs a hundred extractions. */
  *groupOf(block: Definition): Steps<GroupedBlock> {
    const known = this.#known.get(block) ?? (yield* this.#asCluster(block));
    if (known !== undefined) return known;
    const grouped = yield* this.#extract(block);
    this.#known.set(block, grouped);
    return grouped;
  }

  /** A named statistic's name and its labels in full. */
  *ofNamed(name: string): Steps<{ readonly name: string; readonly labels: string }> {
    const [{ name: extracted, tags } = { name, tags: [] }] = yield* this.#extractor.extractAll([
      name,
    ]);
    return { name: extracted, labels: tags.map(labelText).join(',') };
  }

  /** By the default rules alone a cluster's blocks differ from another's by its name only. */
  *#asCluster(block: Definition): Steps<GroupedBlock | undefined> {
    if (!this.#clusterNamesAreValues) return undefined;
    const name = CLUSTER_PREFIX.exec(block.name)?.[1];
    if (name === undefined) return undefined;
    const key = `${block.template?.id ?? ''} ${block.name.slice('cluster..'.length + name.length)}`;
    const known = this.#clusterGroups.get(key);
    if (known !== undefined) return { group: known, values: [escapeLabelValue(name)] };
    const grouped = yield* this.#extract(block);
    if (grouped.values.length === 1 && grouped.values[0] === escapeLabelValue(name)) {
      this.#clusterGroups.set(key, grouped.group);
    }
    return grouped;
  }

  *#extract(block: Definition): Steps<GroupedBlock> {
    const prefix = block.name;
    const specs = block.template?.stats ?? [];
    const extracted = yield* this.#extractor.extractAll(specs.map((spec) => prefix + spec.name));
    const common = commonTags(
      extracted.map(({ tags }) => tags),
      prefix.length,
    );
    const templates = new Map<string, LabelTemplate>();
    const stats = extracted.map(({ name, tags }) => ({
      name,
      labels: sameTemplate(templates, labelTemplate(tags, common)),
    }));
    return {
      group: this.#shared(`${block.template?.id ?? ''} ${stats[0]?.name ?? ''}`, { stats }),
      values: common.map(({ value }) => escapeLabelValue(value)),
    };
  }

  #shared(key: string, group: TagGroup): TagGroup {
    const candidates = (this.#groups.get(key) ?? []).filter(isThere);
    for (const candidate of candidates) {
      const known = candidate.deref();
      if (known !== undefined && isSameGroup(known, group)) return known;
    }
    this.#groups.set(key, [...candidates, new WeakRef(group)]);
    if (this.#groups.size >= this.#sweepAt) this.#sweep();
    return group;
  }

  #sweep(): void {
    for (const [key, candidates] of this.#groups) {
      if (!candidates.some(isThere)) this.#groups.delete(key);
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#groups.size);
  }
}

function isThere(group: WeakRef<TagGroup>): boolean {
  return group.deref() !== undefined;
}

/** The values of a block in the holes of a template. */
export function filledLabels(template: LabelTemplate, values: readonly string[]): string {
  const parts = [template.texts[0] as string];
  for (let hole = 0; hole < template.holes.length; hole++) {
    parts.push(
      values[template.holes[hole] as number] as string,
      template.texts[hole + 1] as string,
    );
  }
  // Joined it is one flat text, which costs less to write than nested pieces.
  return parts.join('');
}

/** One object for all templates of a group that say the same. */
function sameTemplate(known: Map<string, LabelTemplate>, template: LabelTemplate): LabelTemplate {
  const key = JSON.stringify(template);
  const same = known.get(key);
  if (same === undefined) known.set(key, template);
  return same ?? template;
}

/** Tags that come from the prefix alone, if they are the same for every statistic of the block. */
function commonTags(
  perStat: readonly (readonly ExtractedTag[])[],
  prefixLength: number,
): readonly ExtractedTag[] {
  const fromPrefix = (tags: readonly ExtractedTag[]): readonly ExtractedTag[] =>
    tags.filter(({ at }) => at !== undefined && isWithin(at, prefixLength));
  const first = fromPrefix(perStat[0] ?? []);
  const isCommon = perStat.every((tags) => {
    const own = fromPrefix(tags);
    return (
      own.length === first.length &&
      own.every((tag, position) => isSameTag(tag, first[position] as ExtractedTag))
    );
  });
  return isCommon ? first : [];
}

function isWithin(at: NonNullable<ExtractedTag['at']>, length: number): boolean {
  return at.valueEnd <= length && at.removeEnd <= length;
}

function isSameTag(a: ExtractedTag, b: ExtractedTag): boolean {
  return (
    a.tag === b.tag &&
    a.value === b.value &&
    a.at?.valueStart === b.at?.valueStart &&
    a.at?.removeStart === b.at?.removeStart &&
    a.at?.removeEnd === b.at?.removeEnd
  );
}

function labelTemplate(
  tags: readonly ExtractedTag[],
  common: readonly ExtractedTag[],
): LabelTemplate {
  const texts: string[] = [];
  const holes: number[] = [];
  let text = '';
  for (const [position, tag] of tags.entries()) {
    if (position > 0) text += ',';
    const hole = common.findIndex((candidate) => isSameTag(candidate, tag));
    if (hole === -1) {
      text += labelText(tag);
      continue;
    }
    texts.push(`${text}${labelName(tag.tag)}="`);
    holes.push(hole);
    text = '"';
  }
  texts.push(text);
  return { texts, holes };
}

function isSameGroup(a: TagGroup, b: TagGroup): boolean {
  return a.stats.every((stat, offset) => {
    const other = b.stats[offset] as StatLabels;
    return (
      stat.name === other.name &&
      isSameList(stat.labels.texts, other.labels.texts) &&
      isSameList(stat.labels.holes, other.labels.holes)
    );
  });
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((member, position) => member === b[position]);
}
