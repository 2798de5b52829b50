/**
 * docs/messages.md: every message of the program with its cause and its cure, read from the calls
 * that make them. A message of a place that nothing explains fails here.
 */
import { AREAS, RULES, THROWN, type Explained } from './message-causes.ts';
import {
  callsOf,
  endOfToken,
  sourcesBelow,
  textsOf,
  type Source,
  type SourceCall,
} from './source-calls.ts';

interface Message {
  readonly text: string;
  readonly level: string;
  readonly hint: string | undefined;
}

/** By what the messages are about. */
type Sections = Map<string, Message[]>;

const REFUSALS = /\.(error|warning|unsupported|errorIn)(?=\()/g;
const LOG_LINES = /(?:\.(warning|error|critical)|\blog)(?=\()/g;
const THROWS = /\bthrow new (\w+)(?=\()/g;
const LEVELS = /^'(warning|error|critical)'$/;

export function messagePage(root: string): string {
  const supervisor = sourcesBelow(root, 'supervisor');
  const all = [...supervisor, ...sourcesBelow(root, 'src'), ...sourcesBelow(root, 'workers')];
  const sources = all.filter(({ path }) => !/^src\/(commands|testing|demo)\//.test(path));
  const refusals: Sections = new Map();
  const lines: Sections = new Map();
  const starts: Sections = new Map();
  for (const source of sources) {
    addRefusals(source, refusals);
    addLines(source, lines);
    addThrown(source, starts);
  }
  const count = [refusals, lines, starts].reduce((sum, each) => sum + sizeOf(each), 0);
  return [
    '# Messages',
    '',
    '<!-- Made by `node dist/scripts/pages/write-pages.js` from the code. -->',
    '',
    `What Sluice says when something is wrong: ${count} messages, each below its cause and its cure. \`…\` stands for`,
    'what differs: a name, a value, or the words of a reader or of the system. Where a message has a cure of its own, it',
    'stands in brackets behind it, as in the log. Messages that Envoy has too are in its words. Not listed are those of the',
    'readers (syntax, types, rules that the API states), of `sluice` commands, and what clients get as answers.',
    '',
    '## The start and the command line',
    ...sectionLines(starts, (name) => THROWN.get(name)),
    '',
    '## The configuration',
    '',
    'Each names the place, with file, line and column. With `--mode validate` and `sluice check` all appear at once. What is',
    'a warning there is logged, and the configuration is served.',
    ...sectionLines(refusals, (name) => RULES.get(name)),
    '',
    '## The log',
    '',
    'Lines at `warning` and above that a running server writes.',
    ...sectionLines(lines, (name) => AREAS.find(({ title }) => title === name)),
    '',
  ].join('\n');
}

function sizeOf(sections: Sections): number {
  return [...sections.values()].reduce((sum, messages) => sum + messages.length, 0);
}

function sectionLines(
  sections: Sections,
  explain: (name: string) => Explained | undefined,
): readonly string[] {
  return [...sections]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, messages]) => {
      const explained = explain(name);
      if (explained === undefined)
        throw new Error(`scripts/pages/message-causes.ts has no ${name}`);
      const { title, cause, cure } = explained;
      const rows = messages.map(rowOf).sort();
      return ['', `### ${title}`, '', `Cause: ${cause}  `, `Cure: ${cure}`, '', ...rows];
    });
}

function rowOf({ text, level, hint }: Message): string {
  const word = level === 'error' ? '' : ` *${level}*`;
  return `- ${code(text)}${hint === undefined ? '' : ` (${hint})`}${word}`;
}

/** As code, whatever backticks are in it. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function addRefusals(source: Source, sections: Sections): void {
  if (!source.path.startsWith('supervisor/')) return;
  for (const call of callsOf(source, REFUSALS)) {
    const { rule, level, message, suggestion } = refusalOf(call);
    if (!RULES.has(rule)) continue;
    const [hint] = known(suggestion, source, call.match.index);
    const ending = call.match[1] === 'unsupported' ? ' not supported yet' : '';
    for (const text of known(message, source, call.match.index)) {
      add(sections, rule, { text: `${text}${ending}`, level, hint });
    }
  }
}

/** What the arguments of the scope's methods mean. */
function refusalOf({ match: [, kind], args }: SourceCall): {
  readonly rule: string;
  readonly level: string;
  readonly message: string;
  readonly suggestion: string;
} {
  const level = kind === 'warning' ? 'warning' : 'error';
  const words = kind === 'unsupported' ? ["'unsupported'", ...args] : args;
  const [rule = '', message = '', suggestion = ''] = kind === 'errorIn' ? words.slice(1) : words;
  return { rule: /^'([a-z_]+)'$/.exec(rule)?.[1] ?? '', level, message, suggestion };
}

function addLines(source: Source, sections: Sections): void {
  for (const { match, args } of callsOf(source, LOG_LINES)) {
    const [first = '', second] = args;
    const isLog = match[1] === undefined;
    if (isLog ? !LEVELS.test(first) : second !== undefined) continue;
    const level = match[1] ?? LEVELS.exec(first)?.[1] ?? '';
    for (const text of known(isLog ? (second ?? '') : first, source, match.index)) {
      const area = AREAS.find(({ paths }) => paths.test(source.path));
      if (area === undefined)
        throw new Error(`${source.path}: message-causes.ts explains no '${text}'`);
      add(sections, area.title, { text, level, hint: undefined });
    }
  }
}

function addThrown(source: Source, sections: Sections): void {
  for (const { match, args } of callsOf(source, THROWS)) {
    const name = match[1] ?? '';
    if (!THROWN.has(name)) continue;
    for (const text of known(args[0] ?? '', source, match.index)) {
      add(sections, name, { text, level: 'error', hint: undefined });
    }
  }
}

function add(sections: Sections, name: string, message: Message): void {
  const messages = sections.get(name) ?? [];
  sections.set(name, messages);
  if (!messages.some(({ text }) => text === message.text)) messages.push(message);
}

/** The texts of an expression at a place; none where it says nothing of its own. */
function known(expression: string, source: Source, before: number): readonly string[] {
  return textsOf(expression)
    .flatMap((text) => (/^…*$/.test(text) ? namedTexts(expression, source, before) : [text]))
    .filter((text) => !/^[…\s:]*$/.test(text))
    .map((text) => text.replaceAll(/\s+/g, ' ').replace(/^\* /, '').trim());
}

/** What the constant or the function says that the expression names. */
function namedTexts(expression: string, { text }: Source, before: number): readonly string[] {
  const call = /^(\w+)(\()?[\s\S]*$/.exec(expression);
  if (call === null) return [];
  const [, name = '', isCall] = call;
  if (isCall === undefined) {
    if (name !== expression) return [];
    const at = lastMatch(text, new RegExp(`\\bconst ${name} =`, 'g'), before);
    return at === undefined ? [] : textsOf(statementAt(text, at));
  }
  const start = text.search(new RegExp(`\\bfunction ${name}\\(`));
  if (start < 0) return [];
  const body = text.slice(start, text.indexOf('\n}', start));
  return [...body.matchAll(/\breturn\b/g)].flatMap(({ index }) =>
    textsOf(statementAt(body, index + 'return'.length)),
  );
}

/** Where the last match before a place ends, or else the first one behind it. */
function lastMatch(text: string, pattern: RegExp, before: number): number | undefined {
  const ends = [...text.matchAll(pattern)].map((match) => match.index + match[0].length);
  return ends.findLast((end) => end < before) ?? ends[0];
}

function statementAt(text: string, from: number): string {
  let at = from;
  while (at < text.length && text[at] !== ';') at = endOfToken(text, at);
  return text.slice(from, at).trim();
}
