/** Sends one request to the admin's router without a socket and collects the answer. */
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import type { AdminResponse } from '../../../../supervisor/http-pages/admin-response.ts';
import { createAdminRouter } from '../../../../supervisor/admin/admin-router.ts';
import type { AdminRules } from '../../../../supervisor/admin/admin-router.ts';
import { adminRoutes } from '../../../../supervisor/admin/admin-routes.ts';
import { Profilers } from '../../../../supervisor/profiling/profilers.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';

const types = createMessageTypes();

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: NonNullable<AdminResponse['headers']>;
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly rules?: AdminRules;
}

/** Rejects when the target is no path: those have no page. */
export async function ask(
  context: AdminContext,
  target: string,
  question: Question = {},
): Promise<Answer> {
  const router = createAdminRouter(
    adminRoutes({ types, profilers: new Profilers({ path: '/nosuch/profile' }) }),
    context,
    question.rules,
  );
  const response = await router.answer({
    method: question.method ?? 'GET',
    target,
    headers: { host: 'admin.test', ...question.headers },
    body: question.body ?? '',
    client: '127.0.0.1:1',
  });
  if (response === undefined) throw new Error(`no page for ${target}`);
  return {
    status: response.status,
    contentType: response.contentType ?? 'text/plain; charset=UTF-8',
    headers: response.headers ?? {},
    body: await collect(response.body),
  };
}

async function collect(body: AdminResponse['body']): Promise<string> {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('latin1');
  let text = '';
  for await (const chunk of body) text += typeof chunk === 'string' ? chunk : String(chunk);
  return text;
}
