/** The `date` header: made once per second, not once per response. */

let second = -1;
let text = '';

/** `nowMs` in the form of RFC 9110, section 5.6.7. */
export function httpDate(nowMs: number): string {
  const nowSecond = Math.floor(nowMs / 1000);
  if (nowSecond !== second) {
    second = nowSecond;
    text = new Date(nowSecond * 1000).toUTCString();
  }
  return text;
}
