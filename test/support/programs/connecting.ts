/** A client that connects again and again and asks once each time, and says what became of each. */
import net from 'node:net';

interface Outcomes {
  readonly answered: number;
  readonly refused: number;
  /** Connected, and then neither answered nor let go in good order. */
  readonly lost: readonly string[];
}

export interface Connecting {
  /** So far. */
  answered(): number;
  stop(): Promise<Outcomes>;
  readonly done: Promise<Outcomes>;
}

/** Stops after as many refusals in a row as say that nobody listens any more, or when told. */
export function connectAgainAndAgain(target: net.NetConnectOpts, clients = 4): Connecting {
  const found = { answered: 0, refused: 0, lost: [] as string[] };
  let isStopping = false;
  const client = async (): Promise<void> => {
    for (let refusals = 0; refusals < REFUSALS_MAX && !isStopping;) {
      const outcome = await askOnce(target);
      refusals = outcome === 'refused' ? refusals + 1 : 0;
      if (outcome === 'refused' || outcome === 'answered') found[outcome] += 1;
      else found.lost.push(outcome);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, client)).then(() => found);
  return {
    done,
    answered: () => found.answered,
    stop: async () => {
      isStopping = true;
      return await done;
    },
  };
}

const REFUSALS_MAX = 20;
const REQUEST = 'GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n';

function askOnce(target: net.NetConnectOpts): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(target);
    let isConnected = false;
    let text = '';
    socket.once('connect', () => {
      isConnected = true;
      socket.write(REQUEST);
    });
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isRefused = !isConnected && ['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '');
      resolve(isRefused ? 'refused' : `${isConnected ? 'after' : 'before'} it: ${error.code}`);
    });
    socket.once('close', () => {
      resolve(text.startsWith('HTTP/1.1 200') ? 'answered' : `closed after ${text.length} bytes`);
    });
  });
}
