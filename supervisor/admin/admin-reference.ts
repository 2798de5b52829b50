/** docs/admin.md, made from the routing table so that neither can say what the other does not. */
import type { ShownParam } from '../http-pages/params.ts';
import type { AdminRoute } from './admin-route.ts';

const INTRODUCTION = `# The admin interface

Made from the routing table by \`node dist/scripts/pages/write-pages.js\`; do not edit.

Every page that Envoy's admin interface has is here under the same path, with the same parameters
and the same output. A command must be sent as POST; sent otherwise it has no effect and the answer
is 400. Who may ask what is described in [admin-security.md](admin-security.md).

Where Sluice differs:

- \`/memory\` and \`/memory/tcmalloc\` say what V8 knows of the supervisor's memory.
- \`/cpuprofiler\` and \`/heapprofiler\` write gzipped pprof profiles of the supervisor and all workers
  to \`admin.profile_path\`, each sample with the label \`process\`; \`go tool pprof\` reads them.
  \`/heap_dump\` answers such a profile at once: the supervisor, which carries no traffic, is sampled
  all the time, workers only with \`--heap-sampling\` or while the heap profiler runs, which the profile
  says in its comments. Nothing is collected for it, which would stop the server (110 ms with 10,000
  clusters): what was freed since the last collection may still be in it, as in heap profiles of Go.
  A thread of its own names the functions and compresses the profile.
- \`/contention\` needs \`--enable-mutex-tracing\`, as Envoy's does. There are no mutexes here: counted are
  the supervisor's waits for a worker's reply (to a configuration change, and to the question for its
  statistics) and for the thread that matches a filter of \`/stats\`. \`num_contentions\` is their number,
  \`lifetime_wait_cycles\` the nanoseconds of all, \`current_wait_cycles\` those of the last. What is
  shared with workers in memory is used without waiting.
- The filters of \`admin.access_log\` are those of every access log. A request to the admin is never
  traced, and its only log type is \`DownstreamEnd\`.
- \`/peak_heap_dump\` is the supervisor's heap when it was largest, looked at every three seconds;
  \`/allocprofiler\` samples the allocations of all processes, and meanwhile nothing else of the heap.
- \`/tap\` gives its client every output format, and answers what it cannot do with 400. Records that
  the client does not take in time are dropped beyond 16 MiB, and so is a record of more than 8 MiB;
  the log says how many.
- \`/logging?paths=\` takes \`name=level\` besides \`name:level\`.
- The listener speaks HTTP/1.1, and HTTP/2 with prior knowledge, as Envoy's does. HTTP/1.0 and 0.9 get
  426; a request that Envoy's parser accepts with bare line feeds, folded headers, a carriage return
  within a value or blanks behind the version gets 400. Bodies above 1 MiB get 413. Requests that are
  pipelined are all answered, where Envoy closes after the first. An answer to HEAD has no body, where
  Envoy sends one. An \`Upgrade\` is passed over and the request answered, where Envoy does not answer.
  Form bodies may name a character set in their content type.
- The order of clusters and routes in dumps is that of the configuration.
- \`/\` also shows what the server is doing: workers, traffic, listeners, clusters, certificates.

\`npm run test:clients\` runs programs that others wrote against a real server, unchanged, each with a
file in \`test/clients\`: go-control-plane's types (every JSON page, unknown fields refused), promtool,
\`go tool pprof\`, the shutdown managers of Contour and Envoy Gateway, Istio's \`pilot-agent request\`,
func-e. With 10,000 clusters \`node dist/scripts/bench/admin-ready.js\` measures \`/ready\` beside two
clients that read the largest pages in loops, here and in Envoy.
\`node dist/scripts/bench/admin-responsiveness.js\` asks for every page with hostile parameters meanwhile, and
\`node dist/scripts/bench/clusters-page.js\` compares what \`/clusters\` costs with Envoy, in processor time.

![The home page](images/admin-home-1280.png)
`;

/** The whole document. */
export function adminReference(routes: readonly AdminRoute[]): string {
  const sections = routes.map(describeRoute);
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

function describeRoute(route: AdminRoute): string {
  const method = route.mutates ? 'POST' : 'GET';
  const params = route.params.map(describeParam);
  const table = params.length === 0 ? '' : `\n| parameter | values | |\n| --- | --- | --- |\n`;
  return `## ${method} \`${route.path}\`\n\n${sentence(route.help)}\n${table}${params.join('')}`;
}

function describeParam(param: ShownParam): string {
  const help = sentence(param.help).replaceAll('|', '\\|');
  return `| \`${param.name}\` | ${valuesOf(param)} | ${help} |\n`;
}

function valuesOf(param: ShownParam): string {
  switch (param.kind) {
    case 'boolean':
      return 'present or not';
    case 'string':
      return 'text';
    case 'enum':
      return param.choices
        .filter((choice) => choice !== '')
        .map((choice) => `\`${choice}\``)
        .join(', ');
  }
}

function sentence(text: string): string {
  const escaped = text.replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
  return escaped.charAt(0).toUpperCase() + escaped.slice(1);
}
