/** Leads to what a form created. */

/**
 * Does the work of a form, then shows the screen that it names. A person who went to another screen meanwhile stays there, with what
 * is typed there. A lock leaves the screen as it was.
 */
export async function leadTo(
  navigate: (to: string, options: { readonly replace: boolean }) => void,
  work: () => Promise<string>,
): Promise<void> {
  const leaving = new AbortController();
  const leave = (): void => {
    leaving.abort();
  };
  window.addEventListener('hashchange', leave);
  try {
    const screen = await work();
    if (!leaving.signal.aborted) navigate(screen, { replace: true });
  } finally {
    window.removeEventListener('hashchange', leave);
  }
}
