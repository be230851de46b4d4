import { createContext, useContext } from 'react';

/** False in the window of an approver, who has approvals alone. */
export const OwnersWindow = createContext(true);

export const useIsOwners = (): boolean => useContext(OwnersWindow);
