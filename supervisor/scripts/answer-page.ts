/** The thread's side of pages that are modules: loads them once per version, and runs their functions. */
import { request } from 'node:http';
import type { AdminPageAnswer, AdminPagesDefinition } from '../../shared/scripts/admin-pages.ts';
import { definedModule, definitionOf } from '../../shared/scripts/module-definition.ts';
import { readerOf, runModule } from '../../shared/scripts/run-module.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import { errorText } from '../../shared/text/error-text.ts';

export interface PageTask {
  readonly page: string;
  readonly module: ScriptModule;
  /** JSON. */
  readonly settings: string;
  readonly loadTimeoutMs: number;
  readonly method: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string;
  /** The address of the administration interface; undefined: it has none that can be asked. */
  readonly admin: { readonly host: string; readonly port: number } | undefined;
}

export type PageReply =
  | { readonly status: number; readonly contentType: string; readonly body: string | Uint8Array }
  | { readonly fault: string };

/** What a page may ask for, and answer. */
const BODY_MAX = 16 * 1024 * 1024;
const TEXT = 'text/plain; charset=UTF-8';
const STACK_MAX = 4_096;
/** Versions in the thread, the present one last. */
const VERSIONS_MAX = 8;

const versions = new Map<string, Promise<AdminPagesDefinition>>();

export async function answerPage(task: PageTask): Promise<PageReply> {
  try {
    const { pages, schema } = await definitionFor(task);
    const page = Object.hasOwn(pages, task.page) ? pages[task.page as '/'] : undefined;
    if (page === undefined) return { fault: 'the module has no such page any more' };
    const given: unknown = JSON.parse(task.settings);
    const checked =
      schema === undefined ? { value: given } : await schema['~standard'].validate(given);
    if (checked.issues !== undefined) return { fault: 'its settings are wrong' };
    const { method, query, body, page: path } = task;
    const asked = { method, path, body, query: new Map(query), admin: asker(task) };
    return replyOf(await page.handle(asked, checked.value));
  } catch (error) {
    const stack = error instanceof Error ? error.stack : undefined;
    return { fault: (stack ?? errorText(error)).slice(0, STACK_MAX) };
  }
}

function definitionFor({ module, loadTimeoutMs }: PageTask): Promise<AdminPagesDefinition> {
  const known = versions.get(module.digest);
  if (known !== undefined) return known;
  for (const oldest of versions.keys()) {
    if (versions.size < VERSIONS_MAX) break;
    versions.delete(oldest);
  }
  const loaded = load(module, loadTimeoutMs);
  versions.set(module.digest, loaded);
  return loaded;
}

async function load(module: ScriptModule, timeoutMs: number): Promise<AdminPagesDefinition> {
  const defined = definedModule(await runModule(module.entry, readerOf(module), { timeoutMs }));
  if (defined === undefined) throw new TypeError('it exports no pages');
  return definitionOf(defined, 'admin_pages');
}

function replyOf(answer: unknown): PageReply {
  const whole = typeof answer === 'string' ? { body: answer } : (answer as AdminPageAnswer);
  if (typeof whole !== 'object' || whole === null) return { fault: 'a page gave no answer' };
  const { status = 200, contentType = TEXT, body } = whole;
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    return { fault: `${String(status)} is no status` };
  }
  if (typeof contentType !== 'string' || !/^[\x20-\x7e]+$/.test(contentType)) {
    return { fault: 'the type of its content is none' };
  }
  const isBody = typeof body === 'string' || body instanceof Uint8Array;
  if (!isBody || body.length > BODY_MAX) return { fault: 'its body is none, or too large' };
  return { status, contentType, body };
}

/** By a request, as anybody else would. */
function asker({ admin, page }: PageTask) {
  return (path: string): Promise<{ readonly status: number; readonly body: string }> =>
    new Promise((resolve, reject) => {
      // The one thread would wait for itself.
      if (admin === undefined || path.split('?')[0] === page) {
        return reject(new Error(`${path} cannot be asked for`));
      }
      const outgoing = request({ ...admin, path, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
          if (body.length > BODY_MAX) outgoing.destroy(new Error(`${path} is too large`));
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
}
