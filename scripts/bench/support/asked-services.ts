/**
 * What filters ask in the benchmarks: a second nginx beside the upstream that says yes to every
 * check and takes every span, over HTTP/1 and as gRPC over HTTP/2, each answer from memory.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOAD_CORE, startPinned, waitForPort, type Running } from './processes.ts';

/** The services' ports lie this far beside the upstream's port: HTTP/1, and HTTP/2. */
export const SERVICE_PORT_OFFSET = 2;
export const GRPC_SERVICE_PORT_OFFSET = 3;

/** An empty CheckResponse is an allowance; a RateLimitResponse says OK in its first field. */
const EMPTY_MESSAGE = Buffer.from([0, 0, 0, 0, 0]);
const WITHIN_LIMIT = Buffer.from([0, 0, 0, 0, 2, 0x08, 1]);

const ANSWERS = [
  { method: '/envoy.service.auth.v3.Authorization/', file: 'empty' },
  { method: '/envoy.service.ratelimit.v3.RateLimitService/', file: 'within' },
  { method: '/opentelemetry.proto.collector.trace.v1.TraceService/', file: 'empty' },
];

export async function startAskedServices(folder: string, upstreamPort: number): Promise<Running> {
  const root = join(folder, 'answers');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'empty'), EMPTY_MESSAGE);
  writeFileSync(join(root, 'within'), WITHIN_LIMIT);
  const config = join(folder, 'services.conf');
  const port = upstreamPort + SERVICE_PORT_OFFSET;
  const methods = ANSWERS.map(({ method, file }) => `location ${method} { rewrite ^ /${file}; }`);
  // A file is no answer to POST for nginx, but where the error page says that it is.
  const files = ['empty', 'within'].map(
    (file) => `location = /${file} { error_page 405 =200 /${file}; add_trailer grpc-status 0; }`,
  );
  writeFileSync(
    config,
    `daemon off; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/services.pid; error_log ${folder}/services.log error;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; open_file_cache max=16; types {}
  client_body_temp_path ${folder}/sb; proxy_temp_path ${folder}/sp; fastcgi_temp_path ${folder}/sf;
  uwsgi_temp_path ${folder}/su; scgi_temp_path ${folder}/ss;
  http2_max_requests 100000000; http2_max_concurrent_streams 1000;
  server { listen 127.0.0.1:${port} backlog=4096; location / { return 200; } }
  server {
    listen 127.0.0.1:${upstreamPort + GRPC_SERVICE_PORT_OFFSET} http2 backlog=4096; root ${root};
    default_type application/grpc;
    ${[...methods, ...files].join('\n    ')}
  }
}
`,
  );
  const running = startPinned(LOAD_CORE, ['nginx', '-c', config, '-p', folder]);
  await waitForPort(port);
  return running;
}
