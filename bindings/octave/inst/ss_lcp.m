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
  reduced = problem;
  has_free = isfield(problem, 'blocks') && any(strcmp(problem.blocks.law, 'free'));
  if has_free
    reduced = stickslip_mex('eliminate', problem);
  end
  if isfield(reduced, 'blocks')
    wrong = setdiff(reduced.blocks.law, {'box'});
    if ~isempty(wrong)
      error('stickslip:usage', 'ss_lcp: a problem with unknowns under the law ''%s'' is not an LCP', wrong{1});
    end
  end

  n = size(reduced.A, 1);
  lower = zeros(n, 1);
  upper = Inf(n, 1);
  if isfield(reduced, 'lower')
    lower = reduced.lower(:);
    upper = reduced.upper(:);
  end
  if any(lower == -Inf & upper == Inf)
    error('stickslip:usage', 'ss_lcp: unknown %d has no bounds', find(lower == -Inf & upper == Inf, 1));
  end

  % x = origin + sign z: from the lower bound upwards, or from the upper bound downwards where there is no lower one.
  sign = ones(n, 1);
  sign(lower == -Inf) = -1;
  origin = lower;
  origin(lower == -Inf) = upper(lower == -Inf);
  S = spdiags(sign, 0, n, n);
  A = S * reduced.A * S;
  b = sign .* (reduced.A * origin + reduced.b(:));

  % Two bounds: w = s - t, where s goes with the lower bound and t, a new unknown, with the upper one.
  both = find(isfinite(lower) & isfinite(upper));
  k = numel(both);
  if k > 0
    E = sparse(both, 1:k, 1, n, k);
    A = [A, E; -E', sparse(k, k)];
    b = [b; upper(both) - lower(both)];
  end
  recover = @(z) restore(problem, has_free, origin, sign, z);
end

function x = restore(problem, has_free, origin, sign, z)
  x = origin + sign .* z(1:numel(origin));
  if has_free
    x = stickslip_mex('restore', problem, x);
  end
end
