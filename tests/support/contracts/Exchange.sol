// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// A quoter (IQuoterV2) and a router (SwapRouter02) in one, over pools with a fixed price, that hold what was sent here.
contract Exchange {
    struct QuoteParams {
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint24 fee;
        uint160 sqrtPriceLimitX96;
    }

    struct SwapParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    /// Of a pool: what is given for 10^18 of what comes in, before the pool's fee. 0: there is no such pool.
    mapping(address => mapping(address => mapping(uint24 => uint256))) public price;

    function setPrice(address tokenIn, address tokenOut, uint24 fee, uint256 value) external {
        price[tokenIn][tokenOut][fee] = value;
    }

    function out(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) private view returns (uint256) {
        uint256 value = price[tokenIn][tokenOut][fee];
        require(value > 0, "no pool");
        return (amountIn * value / 1e18) * (1e6 - fee) / 1e6;
    }

    function quoteExactInputSingle(QuoteParams memory params)
        external
        view
        returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)
    {
        return (out(params.tokenIn, params.tokenOut, params.fee, params.amountIn), 0, 0, 0);
    }

    function exactInputSingle(SwapParams calldata params) public payable returns (uint256 amountOut) {
        amountOut = out(params.tokenIn, params.tokenOut, params.fee, params.amountIn);
        require(amountOut >= params.amountOutMinimum, "Too little received");
        require(IToken(params.tokenIn).transferFrom(msg.sender, address(this), params.amountIn), "in");
        require(IToken(params.tokenOut).transfer(params.recipient, amountOut), "out");
    }

    function multicall(uint256 deadline, bytes[] calldata data) external payable returns (bytes[] memory results) {
        require(block.timestamp <= deadline, "Transaction too old");
        results = new bytes[](data.length);
        for (uint256 at = 0; at < data.length; at++) {
            (bool success, bytes memory result) = address(this).delegatecall(data[at]);
            require(success, "Too little received");
            results[at] = result;
        }
    }
}
