function [z, pivots, ended] = lemke(A, b)
% [z, pivots, ended] = lemke(A, b)   Lemke's method for 0 <= z, A z + b >= 0, z' (A z + b) = 0, on a dense tableau
%
% ended is 'solved', 'ray' (no way on: there may be no solution) or 'limit'. A slightly irregular covering vector makes
% ties, and with them cycles, unlikely. Cottle, Pang, Stone: The Linear Complementarity Problem (1992), section 4.4.
  n = numel(b);
  z = zeros(n, 1);
  pivots = 0;
  ended = 'solved';
  if all(b >= 0)
    return
  end
  % Basic variables = q + T nonbasic ones. At first w = b + A z + d z0; names: w is 1 to n, z n + 1 to 2 n, z0 the last.
  d = 1 + 0.1 * mod((1:n)' * 0.6180339887498949, 1);
  T = [full(A), d];
  q = full(b(:));
  basic = (1:n)';
  nonbasic = n + 1:2 * n + 1;
  [least, row] = min(q ./ d);
  column = n + 1;
  while true
    left = basic(row);
    entered = T(:, column);
    T(:, column) = 0;
    T(row, column) = -1;
    line = -T(row, :) / entered(row);
    value = -q(row) / entered(row);
    T = T + entered * line;
    q = q + entered * value;
    T(row, :) = line;
    q(row) = value;
    basic(row) = nonbasic(column);
    nonbasic(column) = left;
    pivots = pivots + 1;
    if left == 2 * n + 1
      break
    elseif pivots > 50 * n
      ended = 'limit';
      break
    end
    % The partner of what left enters, and what reaches 0 first leaves: z0, if it is among them.
    column = find(nonbasic == left + n - 2 * n * (left > n));
    falling = find(T(:, column) < -1e-9 * max(abs(T(:, column))));
    if isempty(falling)
      ended = 'ray';
      break
    end
    ratio = max(q(falling), 0) ./ -T(falling, column);
    [least, k] = min(ratio);
    row = falling(k);
    last = find(basic(falling) == 2 * n + 1);
    if ~isempty(last) && ratio(last) <= least + 1e-12
      row = falling(last);
    end
  end
  % Once more on the final set, without the rounding of all pivots.
  F = basic(basic > n & basic <= 2 * n) - n;
  z(F) = max(q(basic > n & basic <= 2 * n), 0);
  if strcmp(ended, 'solved') && rcond(full(A(F, F))) > 1e-14
    z(F) = -A(F, F) \ b(F);
  end
end
