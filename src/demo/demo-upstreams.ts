/** The two small upstreams of the demo bootstrap (docs/examples/demo.yaml). */
import { createServer, type Server } from 'node:http';

const UPSTREAMS = [
  { name: 'blue', port: 10_001 },
  { name: 'green', port: 10_002 },
] as const;

/** Resolves when both listen; rejects with the first port that is taken. */
export function startDemoUpstreams(): Promise<readonly Server[]> {
  return Promise.all(UPSTREAMS.map(({ name, port }) => listen(name, port)));
}

function listen(name: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end(`Upstream ${name} answers ${request.method} ${request.url}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new Error(`cannot start the demo upstream on 127.0.0.1:${port}: ${cause.message}`));
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
