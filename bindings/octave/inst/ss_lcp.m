function [A, b, recover] = ss_lcp(problem)
% [A, b, recover] = ss_lcp(problem)   a problem as a linear complementarity problem
%
%   0 <= z,  A z + b >= 0,  z' (A z + b) = 0
%
% x = recover(z) gives the unknowns of the problem back, for ss_recover. Equations (free unknowns) are solved for,
% bounds are shifted to 0, and an unknown with two finite bounds becomes two. A problem with cones, or with bounds
% that follow other unknowns (the formulation 'box'), is not an LCP: use 'stewart-trinkle' or 'anitescu-potra'.
%
% Example:
%   problem = ss_problem(frame, 'stewart-trinkle');
%   [A, b, recover] = ss_lcp(problem);
%   answer = ss_recover(problem, recover(my_lcp_solver(A, b)));
%
% See also h5_build_stap_reduced, ss_problem
  problem = ss_subject(problem);
  if isfield(problem, 'blocks')
    wrong = setdiff(problem.blocks.law, {'box', 'free'});
    if ~isempty(wrong)
      error('stickslip:usage', 'ss_lcp: a problem with unknowns under the law ''%s'' is not an LCP', wrong{1});
    end
  end
  all_rows = size(problem.A, 1);
  lower = zeros(all_rows, 1);
  upper = Inf(all_rows, 1);
  if isfield(problem, 'lower')
    lower = problem.lower(:);
    upper = problem.upper(:);
  end

  % Equations: x(free) = -constant - slope x(kept). Of redundant ones the shortest solution is taken: as they describe
  % bodies, their right-hand sides depend on each other in the same way, up to contradictory errors of position.
  free = find(lower == -Inf & upper == Inf);
  kept = find(~(lower == -Inf & upper == Inf));
  lower = lower(kept);
  upper = upper(kept);
  n = numel(kept);
  A_kept = problem.A(kept, kept);
  b_kept = problem.b(kept);
  constant = zeros(0, 1);
  slope = zeros(0, n);
  if ~isempty(free)
    K = problem.A(free, free);
    if rcond(full(K)) < 1e-12
      inverse = pinv(full(K), 1e-12 * norm(K, 1));
      constant = inverse * problem.b(free);
      slope = inverse * problem.A(free, kept);
    else
      constant = full(K \ problem.b(free));
      slope = K \ problem.A(free, kept);
    end
    A_kept = A_kept - problem.A(kept, free) * slope;
    b_kept = b_kept - problem.A(kept, free) * constant;
  end

  % x = origin + sign z: from the lower bound upwards, or from the upper bound downwards where there is no lower one.
  sign = ones(n, 1);
  sign(lower == -Inf) = -1;
  origin = lower;
  origin(lower == -Inf) = upper(lower == -Inf);
  S = spdiags(sign, 0, n, n);
  A = S * A_kept * S;
  b = sign .* (A_kept * origin + b_kept(:));

  % Two bounds: w = s - t, where s goes with the lower bound and t, a new unknown, with the upper one.
  both = find(isfinite(lower) & isfinite(upper));
  k = numel(both);
  if k > 0
    E = sparse(both, 1:k, 1, n, k);
    A = [A, E; -E', sparse(k, k)];
    b = [b; upper(both) - lower(both)];
  end
  recover = @(z) restore(free, kept, constant, slope, origin, sign, z(:));
end

function x = restore(free, kept, constant, slope, origin, sign, z)
  x = zeros(numel(free) + numel(kept), 1);
  x(kept) = origin + sign .* z(1:numel(kept));
  x(free) = -constant - slope * x(kept);
end
