/**
 * A printed JSON page as YAML, line by line as it is made: every value, opening and end stands in a
 * line of its own, as json-printer.ts prints it.
 */

/** What YAML reads as a text and as nothing else. */
const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$/;
/** What it reads as something else. */
const WORDS = /^(true|false|yes|no|on|off|y|n|null|nan|inf)$/i;
const FIELD = /^("(?:[^"\\]|\\.)*"): (.*)$/s;

/** An object or a list that is open. */
interface Open {
  readonly isList: boolean;
  /** Blanks before its entries. */
  readonly indent: number;
  /** It has no entry yet. */
  isEmpty: boolean;
  /** It begins behind the dash of a list, so that its first entry needs no blanks. */
  readonly isBehindDash: boolean;
}

export function* yamlOf(pieces: Iterable<string>): Generator<string> {
  const printer = new YamlPrinter();
  let rest = '';
  for (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map((line) => printer.line(line)).join('');
  }
  yield printer.line(rest);
}

class YamlPrinter {
  readonly #open: Open[] = [];

  /** What a line of JSON becomes. */
  line(line: string): string {
    const text = line.trim().replace(/,$/, '');
    if (text === '') return '';
    if (text === '}' || text === ']') return this.#close();
    const [, name, value = text] = FIELD.exec(text) ?? [];
    const within = this.#open.at(-1);
    const isOpening = value === '{' || value === '[';
    let head = '';
    let indent = 0;
    if (within !== undefined) {
      head = this.#begin(within) + (name === undefined ? '-' : `${scalar(name)}:`);
      // Lists stand below their name, objects deeper.
      indent = within.indent + (name !== undefined && value === '[' ? 0 : 2);
    }
    if (!isOpening) return `${head}${head === '' ? '' : ' '}${scalar(value)}\n`;
    const isBehindDash = within !== undefined && name === undefined;
    this.#open.push({ isList: value === '[', indent, isEmpty: true, isBehindDash });
    return head;
  }

  /** What stands before an entry. */
  #begin(open: Open): string {
    const blanks = ' '.repeat(open.indent);
    const isFirst = open.isEmpty;
    open.isEmpty = false;
    if (!isFirst) return blanks;
    if (open.isBehindDash) return ' ';
    return this.#open.length === 1 ? '' : `\n${blanks}`;
  }

  #close(): string {
    const open = this.#open.pop();
    if (open?.isEmpty !== true) return '';
    const text = open.isList ? '[]' : '{}';
    return this.#open.length === 0 ? `${text}\n` : ` ${text}\n`;
  }
}

/** A scalar of YAML for a value as JSON has it. */
function scalar(json: string): string {
  if (!json.startsWith('"')) return json;
  const text = JSON.parse(json) as string;
  return PLAIN.test(text) && !WORDS.test(text) ? text : json;
}
