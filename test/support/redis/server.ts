/** A Redis server for tests: a few commands over a map, and whatever a test answers in their place. */
import { createServer, type AddressInfo, type Socket } from 'node:net';

type Words = readonly string[];
/** Bytes to answer with, or `hang`, `close`; undefined: as a server would. `later` answers later. */
export type Script = (
  words: Words,
  connection: number,
  later: (answer: string) => void,
) => string | undefined;

export interface RedisServer {
  readonly port: number;
  /** All commands, in the order of their arrival: words with blanks between them. */
  readonly commands: readonly string[];
  /** The same with the number of their connection in front. */
  readonly numbered: readonly string[];
  readonly data: Map<string, string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRedisServer(
  script: Script = () => undefined,
  port = 0,
): Promise<RedisServer> {
  const commands: string[] = [];
  const numbered: string[] = [];
  const data = new Map<string, string>();
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    const number = connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    const session = new Session(data);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let words = takeCommand(text); words !== undefined; words = takeCommand(text)) {
        text = text.slice(words.bytes);
        commands.push(words.list.join(' '));
        numbered.push(`${number}: ${words.list.join(' ')}`);
        const later = (bytes: string): void => void socket.write(bytes, 'latin1');
        const answer = script(words.list, number, later) ?? session.answer(words.list);
        if (answer === 'close') socket.destroy();
        else if (answer !== 'hang') socket.write(answer, 'latin1');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    numbered,
    data,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection: what it has queued. */
class Session {
  readonly #data: Map<string, string>;
  #queue: Words[] | undefined = undefined;

  constructor(data: Map<string, string>) {
    this.#data = data;
  }

  answer(words: Words): string {
    const name = (words[0] ?? '').toLowerCase();
    if (name === 'multi') {
      this.#queue = [];
      return '+OK\r\n';
    }
    if (name === 'exec') {
      const answers = (this.#queue ?? []).map((each) => this.#do(each));
      this.#queue = undefined;
      return `*${answers.length}\r\n${answers.join('')}`;
    }
    if (this.#queue === undefined) return this.#do(words);
    this.#queue.push(words);
    return '+QUEUED\r\n';
  }

  #do([name = '', key = '', value = '']: Words): string {
    const present = this.#data.get(key);
    switch (name.toLowerCase()) {
      case 'get':
        return present === undefined ? '$-1\r\n' : `$${present.length}\r\n${present}\r\n`;
      case 'del':
        return `:${Number(this.#data.delete(key))}\r\n`;
      case 'exists':
        return `:${present === undefined ? 0 : 1}\r\n`;
      case 'keys':
        return respCommand(...this.#data.keys());
      case 'set':
        this.#data.set(key, value);
        return '+OK\r\n';
      default:
        return '+OK\r\n';
    }
  }
}

/** An array of bulk strings, as clients send commands. */
export function respCommand(...words: readonly string[]): string {
  const bulk = words.map((word) => `$${word.length}\r\n${word}\r\n`);
  return `*${words.length}\r\n${bulk.join('')}`;
}

function takeCommand(text: string): { readonly list: Words; readonly bytes: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const list: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 24));
    if (size === null) return undefined;
    at += size[0].length;
    const end = at + Number(size[1]);
    if (text.length < end + 2) return undefined;
    list.push(text.slice(at, end));
    at = end + 2;
  }
  return { list, bytes: at };
}
