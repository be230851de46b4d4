import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PageHead } from '../parts/page.tsx';

export function NotFound(): ReactNode {
  return (
    <>
      <PageHead title="There is nothing here" lead="This address names no screen of Latchkey." />
      <Link href="/wallets" className="lk-link">
        Go to your wallets
      </Link>
    </>
  );
}
