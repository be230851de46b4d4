/** Conditions of policies about payments on Ethereum, as the window's forms and templates and the policies of bots write them. */

/** Transactions that let no other code act for the account. */
export const transactionTypes = "eth.tx.type in ['LEGACY', 'TYPE_1', 'TYPE_2']";

/** Payments of the chain's coin and nothing else: no call, no token, no approval, no new contract, no other code. */
export const plainPayment = `eth.tx.data == '0x' && ${transactionTypes}`;

/** A call of a token that transfers to a receiver, and sends no coin. */
export const tokenTransfer = "eth.tx.function_signature == '0xa9059cbb' && eth.tx.value == 0";
