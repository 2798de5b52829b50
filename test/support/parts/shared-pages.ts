/** The pages in which workers count together, for several workers within one test. */
import { BreakerPage, createBreakerPage } from '../../../shared/limits/breaker-page.ts';
import { createRateLimitPage, RateLimitPage } from '../../../shared/limits/rate-limit-page.ts';
import type { SharedPages } from '../../../workers/loop/shared-count.ts';

/** One per worker; the memory goes with the process. */
export function sharedPages(workers: number): readonly SharedPages[] {
  const breakerPage = BreakerPage.map(createBreakerPage(workers), workers);
  const rateLimitPage = RateLimitPage.map(createRateLimitPage());
  return Array.from({ length: workers }, (_, workerIndex) => ({
    workerIndex,
    breakerPage: () => breakerPage,
    rateLimitPage: () => rateLimitPage,
  }));
}

export function pagesOfOne(): SharedPages {
  const [pages] = sharedPages(1);
  if (pages === undefined) throw new Error('a worker has pages');
  return pages;
}
