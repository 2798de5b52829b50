/** `/config_history`: what changed in the configuration while the server ran, and what was refused. */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, oneOf, parsed, text, words } from '../../http-pages/params.ts';
import { RESOURCE_TYPES, type DiscoveryKind } from '../../resolved/resource-kinds.ts';
import type { HistoryEntry } from '../../store/config-history.ts';
import { diffLines } from '../../store/message-diff.ts';
import type { AdminContext, ConfigView } from '../admin-context.ts';
import type { RequestOf } from '../admin-route.ts';
import { JSON_TYPE, TEXT, textResponse } from '../http/responses.ts';
import { printJsonAt } from '../json-printer.ts';
import type { MessageTypes } from '../message-types.ts';
import { timestamp } from '../timestamp.ts';
import { redact } from './redact.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 4_096;
const NUMBER = /^\d{1,4}$/;
const RANGE = /^(\d{1,12})\.\.(\d{1,12})?$/;
const KINDS = Object.values(RESOURCE_TYPES).map(({ kind }) => kind);

export const CONFIG_HISTORY_PARAMS = {
  kind: oneOf<DiscoveryKind, undefined>({
    help: 'Kind of the resources',
    values: words(...KINDS),
    byDefault: undefined,
    otherwise: new BadParam(`kind is one of ${KINDS.join(', ')}\n`),
  }),
  name: text('Name of the resource'),
  limit: parsed(
    `Changes at most, the newest first; ${LIMIT_DEFAULT} by default`,
    (given) => {
      const limit = NUMBER.test(given) ? Number(given) : 0;
      const isGood = limit >= 1 && limit <= LIMIT_MAX;
      return isGood ? limit : new BadParam(`limit is a number from 1 to ${LIMIT_MAX}\n`);
    },
    LIMIT_DEFAULT,
  ),
  diff: parsed(
    'a..b: what was different right after change b from right after change a; without b, now',
    (given) => {
      const [match, from, to] = RANGE.exec(given) ?? [];
      if (match === undefined) return new BadParam('diff is a..b, two numbers of changes\n');
      return { from: Number(from), to: to === undefined ? undefined : Number(to) };
    },
    undefined,
  ),
  format: oneOf({
    help: 'Lines for people, or JSON',
    values: words('text', 'json'),
    byDefault: 'text',
  }),
};

type Wanted = RequestOf<typeof CONFIG_HISTORY_PARAMS>['params'];

export function answerConfigHistory(
  { params }: RequestOf<typeof CONFIG_HISTORY_PARAMS>,
  { config: { history } }: AdminContext,
  types: MessageTypes,
): AdminResponse {
  const { diff, format } = params;
  if (diff !== undefined && diff.from < history.forgotten) {
    return textResponse(`changes up to ${history.forgotten} are forgotten\n`, 404);
  }
  const shown =
    diff === undefined
      ? changes(history, params, types)
      : differences(history, { ...params, ...diff }, types);
  return format === 'json'
    ? { status: 200, contentType: JSON_TYPE, body: jsonPieces(shown, history) }
    : { status: 200, contentType: TEXT, body: textPieces(shown, history) };
}

/** Undefined is a place to pause at. */
type Shown = Iterable<JsonObject | undefined>;

function* changes(
  history: ConfigView['history'],
  { limit, ...wanted }: Wanted,
  types: MessageTypes,
): Generator<JsonObject | undefined> {
  let left = limit;
  for (const entry of history.newest()) {
    yield undefined;
    if (!isWanted(entry, wanted)) continue;
    if (left-- === 0) return;
    const { id, timeMs, kind, name, change, version, nonce, source, reason, isPart } = entry;
    yield {
      id,
      time: timestamp(timeMs),
      change,
      kind,
      name,
      ...(version !== '' && { version }),
      ...(nonce !== '' && { nonce }),
      ...(source !== '' && { source }),
      ...(reason !== undefined && { reason }),
      ...(isPart && { too_large: true }),
      diff: isPart ? [] : differenceOf(types, entry, entry),
    };
  }
}

/** The difference of each resource that changed in between, once. */
function* differences(
  history: ConfigView['history'],
  { from, to = history.lastId, ...wanted }: Wanted & { from: number; to: number | undefined },
  types: MessageTypes,
): Generator<JsonObject | undefined> {
  const ends = new Map<string, { first: HistoryEntry; readonly last: HistoryEntry }>();
  for (const entry of history.newest()) {
    if (entry.id <= from) break;
    if (entry.id > to || !isWanted(entry, wanted) || !isInForce(entry)) continue;
    yield undefined;
    const key = `${entry.kind} ${entry.name}`;
    const known = ends.get(key);
    if (known === undefined) ends.set(key, { first: entry, last: entry });
    else known.first = entry;
  }
  for (const { first, last } of [...ends.values()].reverse()) {
    yield undefined;
    const { kind, name } = last;
    const isPart = first.isPart || last.isPart;
    const diff = isPart ? [] : differenceOf(types, first, last);
    if (diff.length > 0 || isPart) yield { kind, name, ...(isPart && { too_large: true }), diff };
  }
}

function isInForce({ change }: HistoryEntry): boolean {
  return change === 'accepted' || change === 'removed';
}

function isWanted({ kind, name }: HistoryEntry, wanted: Pick<Wanted, 'kind' | 'name'>): boolean {
  if (wanted.kind !== undefined && wanted.kind !== kind) return false;
  return wanted.name === undefined || wanted.name === name;
}

const HIDDEN = 'what is not shown changed';

function differenceOf(types: MessageTypes, first: HistoryEntry, last: HistoryEntry): string[] {
  const { message } = RESOURCE_TYPES[last.kind];
  const [before, after] = [first.before, last.after].map(
    (each) => each && redact(types, message, each),
  );
  const lines = diffLines(before, after);
  if (lines.length > 0 || first.before === undefined || last.after === undefined) return lines;
  return diffLines(first.before, last.after).length > 0 ? [HIDDEN] : [];
}

function* jsonPieces(shown: Shown, history: ConfigView['history']): Generator<string> {
  let opening = '{\n "changes": [\n  ';
  for (const each of shown) {
    if (each === undefined) {
      yield '';
      continue;
    }
    yield opening + printJsonAt(each, 2);
    opening = ',\n  ';
  }
  const end = opening.startsWith(',') ? '\n ]' : '{\n "changes": []';
  yield `${end},\n "last": ${history.lastId},\n "forgotten": ${history.forgotten}\n}\n`;
}

function* textPieces(shown: Shown, history: ConfigView['history']): Generator<string> {
  for (const each of shown) yield each === undefined ? '' : linesOf(each);
  if (history.forgotten > 0) yield `changes up to ${history.forgotten} are forgotten\n`;
}

function linesOf({ id, time, change, kind, name, diff, ...facts }: JsonObject): string {
  const head = [id, time, change, kind, name].filter((each) => each !== undefined).map(oneLine);
  const rest = Object.entries(facts).map(
    ([fact, value]) => `${fact}=${oneLine(value as JsonValue)}`,
  );
  const lines = (diff as readonly string[]).map((line) => `    ${line}\n`);
  return `${[...head, ...rest].join(' ')}\n${lines.join('')}`;
}

function oneLine(value: JsonValue): string {
  const given = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[!#-~]+$/.test(given) ? given : JSON.stringify(given);
}
