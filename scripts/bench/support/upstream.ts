/** The upstream of all benchmarks: nginx with one worker, answering from memory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP2_PORT_OFFSET } from './bootstrap.ts';
import { LOAD_CORE, startPinned, waitForPort, type Running } from './processes.ts';

export interface BenchUpstream extends Running {
  readonly port: number;
}

/**
 * `/` answers 13 bytes, `/10k` and `/100k` bodies of that size. `/upload` reads a whole body before
 * it answers, which `return` alone does not: it would reset streams of HTTP/2 whose bodies come.
 */
export async function startUpstream(folder: string, port: number): Promise<BenchUpstream> {
  const root = join(folder, 'www');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '10k'), 'x'.repeat(10 * 1024));
  writeFileSync(join(root, '100k'), 'x'.repeat(100 * 1024));
  const config = join(folder, 'upstream.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/upstream.pid; error_log ${folder}/upstream.log error;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; sendfile on;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi; open_file_cache max=16;
  http2_max_requests 100000000; http2_max_concurrent_streams 1000;
  server {
    listen 127.0.0.1:${port} backlog=4096; listen 127.0.0.1:${port + HTTP2_PORT_OFFSET} http2 backlog=4096; root ${root}; client_max_body_size 0;
    location = / { return 200 "Hello, world\\n"; }
    location = /upload { client_body_buffer_size 64k; proxy_set_body ""; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://answers; }
  }
  upstream answers { server unix:${folder}/answers.sock; keepalive 64; }
  server {
    listen unix:${folder}/answers.sock backlog=4096; return 200 "Hello, world\\n";
  }
}
`,
  );
  const running = startPinned(LOAD_CORE, ['nginx', '-c', config, '-p', folder]);
  await waitForPort(port);
  return { port, ...running };
}
