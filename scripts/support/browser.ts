/** Chromium without a window, driven by its debugging protocol over a pipe. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

const WORDS = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'];
const SCREENSHOT_HEIGHT = 1400;

export interface RunningBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

/** `folder` keeps its profile; `more`: further words of its command line. */
export function startBrowser(
  folder: string,
  program = 'chromium',
  more: readonly string[] = [],
): RunningBrowser {
  const words = [...WORDS, ...more, '--hide-scrollbars', `--user-data-dir=${folder}`];
  const child = spawn(program, words, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    // The browser gets a process group of its own: it has processes that write into the folder,
    // too.
    detached: true,
  });
  const { pid } = child;
  const closed = once(child, 'close');
  const browser = new Browser(child.stdio[3] as Writable, child.stdio[4] as Readable);
  return {
    browser,
    [Symbol.asyncDispose]: async () => {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      await closed;
    },
  };
}

/** One page, driven by the browser's debugging protocol over a pipe. */
export class Browser {
  readonly #out: Writable;
  readonly #waiting = new Map<number, (result: Record<string, unknown>) => void>();
  readonly #dialogs: string[] = [];
  #session: string | undefined;
  #count = 0;

  constructor(out: Writable, incoming: Readable) {
    this.#out = out;
    let rest = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message) as Message);
    });
  }

  /** Texts of the questions that the page has asked; each was answered with yes. */
  get dialogs(): readonly string[] {
    return this.#dialogs;
  }

  /** An empty page, by the name that the browser has for it. */
  async openEmpty(): Promise<string> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    return String(targetId);
  }

  async open(url: string): Promise<void> {
    const targetId = await this.openEmpty();
    const attached = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(attached['sessionId']);
    await this.#send('Page.enable', {});
    await this.#send('Page.navigate', { url });
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.#send('Runtime.evaluate', { expression, awaitPromise: true });
    return (result as { readonly value?: unknown }).value;
  }

  async cookies(url: string): Promise<readonly BrowserCookie[]> {
    const { cookies } = await this.#send('Network.getCookies', { urls: [url] });
    return cookies as readonly BrowserCookie[];
  }

  async allowScripts(allowed: boolean): Promise<void> {
    await this.#send('Emulation.setScriptExecutionDisabled', { value: !allowed });
  }

  async preferColours(value: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** `from`: the element that it begins with. */
  async screenshot(width: number, from?: string): Promise<Buffer> {
    const size = { width, height: SCREENSHOT_HEIGHT, deviceScaleFactor: 1, mobile: false };
    await this.#send('Emulation.setDeviceMetricsOverride', size);
    const top =
      from === undefined
        ? 'scrollTo(0, 0)'
        : `document.querySelector(${JSON.stringify(from)}).scrollIntoView()`;
    await this.evaluate(top);
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  async reload(): Promise<void> {
    await this.#send('Page.reload', {});
  }

  async back(): Promise<void> {
    const { currentIndex, entries } = await this.#send('Page.getNavigationHistory', {});
    const before = (entries as readonly { readonly id: number }[])[Number(currentIndex) - 1];
    await this.#send('Page.navigateToHistoryEntry', { entryId: before?.id });
  }

  /** The document as it is now, read without a script in the page. */
  async markup(): Promise<string> {
    const { root } = await this.#send('DOM.getDocument', {});
    const { nodeId } = root as { readonly nodeId: number };
    const { outerHTML } = await this.#send('DOM.getOuterHTML', { nodeId });
    return String(outerHTML);
  }

  /** Clicks with the mouse where the element is, without a script in the page. */
  async press(selector: string): Promise<void> {
    const { root } = await this.#send('DOM.getDocument', {});
    const { nodeId: page } = root as { readonly nodeId: number };
    const { nodeId } = await this.#send('DOM.querySelector', { nodeId: page, selector });
    await this.#send('DOM.scrollIntoViewIfNeeded', { nodeId });
    const { model } = await this.#send('DOM.getBoxModel', { nodeId });
    const [left = 0, top = 0, , , right = 0, bottom = 0] = (
      model as { readonly content: readonly number[] }
    ).content;
    const at = { x: (left + right) / 2, y: (top + bottom) / 2, button: 'left', clickCount: 1 };
    await this.#send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at });
    await this.#send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at });
  }

  #send(method: string, params: object): Promise<Record<string, unknown>> {
    this.#count += 1;
    const id = this.#count;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#out.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #receive({ id, method, params, result = {} }: Message): void {
    if (id !== undefined) this.#waiting.get(id)?.(result);
    if (method !== 'Page.javascriptDialogOpening') return;
    this.#dialogs.push(String(params?.['message']));
    void this.#send('Page.handleJavaScriptDialog', { accept: true });
  }
}

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Record<string, unknown>;
}
