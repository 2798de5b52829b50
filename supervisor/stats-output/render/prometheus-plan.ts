/**
 * Which metric families a Prometheus page has and what stands in each, in the order of the page. It
 * knows no values and no selection; it is made again only when statistics came or went.
 */
import type { StatKind } from '../../../shared/stats/template.ts';
import { sortedInSteps, type Steps } from '../../loop/loop-turns.ts';
import type { Segment, StatGroup } from '../../stats/ordered-view.ts';
import type { Definition, StatStore } from '../../stats/stat-store.ts';
import { metricName } from '../../stats/tags/prometheus-names.ts';
import {
  filledLabels,
  type GroupedBlock,
  type LabelTemplate,
  type TagGroup,
  type TagGroups,
} from '../../stats/tags/tag-groups.ts';
import { namedHelp, sharedHelp } from './named-help.ts';

export interface Family {
  readonly metric: string;
  readonly kind: StatKind;
  readonly help: string;
  /** One of: the same statistic of many blocks, or members one by one. */
  readonly run?: FamilyRun;
  readonly members: readonly FamilyMember[];
}

/** The statistic at one offset of every block of a group. */
interface FamilyRun {
  readonly blocks: readonly GroupMember[];
  readonly offset: number;
  readonly suffix: string;
  readonly labels: LabelTemplate;
}

export interface GroupMember {
  readonly block: Definition;
  readonly values: readonly string[];
  /** The labels of most of the block's statistics, once they were written. */
  usual?: { readonly template: LabelTemplate; readonly labels: string };
}

interface FamilyMember {
  readonly definition: Definition;
  readonly offset: number;
  /** The statistic's name in two parts. */
  readonly prefix: string;
  readonly suffix: string;
  readonly labels: string;
}

interface Draft {
  readonly metric: string;
  readonly kind: StatKind;
  help: string;
  /** Least extracted name, by which families are sorted. */
  sortName: string;
  readonly runs: FamilyRun[];
  readonly members: FamilyMember[];
}

interface Group {
  readonly tagGroup: TagGroup;
  readonly first: Definition;
  readonly blocks: GroupMember[];
}

/** Members made in one step. */
const MADE_PER_STEP = 256;
const kindOrder: readonly StatKind[] = ['counter', 'gauge', 'text_readout', 'histogram'];
const statGroups: readonly StatGroup[] = ['scalars', 'texts', 'histograms'];

export function* prometheusPlan(
  store: StatStore,
  segments: readonly Segment[],
  tagGroups: TagGroups,
): Steps<readonly Family[]> {
  const drafts = new Map<string, Draft>();
  const groups = new Map<TagGroup, Group>();
  for (const segment of segments) {
    for (const block of segment.blocks) {
      addToGroup(groups, block, yield* tagGroups.groupOf(block));
      yield;
    }
    for (const statGroup of statGroups) {
      for (const { definition } of segment.named[statGroup]) {
        yield* addNamed(drafts, store.kindOf(definition.base), definition, tagGroups);
        yield;
      }
    }
  }
  for (const group of groups.values()) {
    addGroup(drafts, group);
    yield;
  }
  const families: Family[] = [];
  for (const draft of yield* sortedInSteps([...drafts.values()], byKindAndName)) {
    families.push(yield* finished(draft));
  }
  return families;
}

function addToGroup(
  groups: Map<TagGroup, Group>,
  block: Definition,
  { group: tagGroup, values }: GroupedBlock,
): void {
  const known = groups.get(tagGroup);
  if (known === undefined)
    groups.set(tagGroup, { tagGroup, first: block, blocks: [{ block, values }] });
  else known.blocks.push({ block, values });
}

function addGroup(drafts: Map<string, Draft>, { tagGroup, first, blocks }: Group): void {
  first.template?.stats.forEach((spec, offset) => {
    const stat = tagGroup.stats[offset];
    if (stat === undefined) return;
    const draft = draftOf(drafts, { kind: spec.kind, name: stat.name, help: spec.help });
    draft.runs.push({ blocks, offset, suffix: spec.name, labels: stat.labels });
  });
}

function* addNamed(
  drafts: Map<string, Draft>,
  kind: StatKind,
  definition: Definition,
  tagGroups: TagGroups,
): Steps<void> {
  const { name, labels } = yield* tagGroups.ofNamed(definition.name);
  const draft = draftOf(drafts, { kind, name, help: namedHelp(kind, name) });
  draft.members.push({ definition, offset: 0, prefix: definition.name, suffix: '', labels });
}

function draftOf(
  drafts: Map<string, Draft>,
  { kind, name, help }: { kind: StatKind; name: string; help: string },
): Draft {
  const metric = metricName(name);
  const key = `${kind} ${metric}`;
  const known = drafts.get(key);
  if (known !== undefined) {
    if (name < known.sortName) known.sortName = name;
    if (help !== known.help) known.help = sharedHelp(name) ?? known.help;
    return known;
  }
  const draft: Draft = { metric, kind, help, sortName: name, runs: [], members: [] };
  drafts.set(key, draft);
  return draft;
}

function byKindAndName(a: Draft, b: Draft): number {
  if (a.kind !== b.kind) return kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind);
  return a.sortName < b.sortName ? -1 : 1;
}

function* finished({ metric, kind, help, runs, members }: Draft): Steps<Family> {
  const [run] = runs;
  if (run !== undefined && runs.length === 1 && members.length === 0) {
    return { metric, kind, help, run, members };
  }
  for (const { blocks, offset, suffix, labels } of runs) {
    for (const { block, values } of blocks) {
      const prefix = block.name;
      members.push({
        definition: block,
        offset,
        prefix,
        suffix,
        labels: filledLabels(labels, values),
      });
      if (members.length % MADE_PER_STEP === 0) yield;
    }
  }
  const sorted = yield* sortedInSteps(members, byStatName);
  return { metric, kind, help, members: yield* withoutDuplicates(sorted) };
}

function byStatName(a: FamilyMember, b: FamilyMember): number {
  const nameOfA = a.prefix + a.suffix;
  const nameOfB = b.prefix + b.suffix;
  return nameOfA < nameOfB ? -1 : nameOfA > nameOfB ? 1 : 0;
}

/**
 * Names that differ only in characters which Prometheus does not allow would make one series twice.
 */
function* withoutDuplicates(members: readonly FamilyMember[]): Steps<readonly FamilyMember[]> {
  const kept = new Map<string, FamilyMember>();
  for (const member of members) {
    if (!kept.has(member.labels)) kept.set(member.labels, member);
    if (kept.size % MADE_PER_STEP === 0) yield;
  }
  return [...kept.values()];
}
