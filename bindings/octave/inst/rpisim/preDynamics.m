function sim = preDynamics(sim)
% sim = preDynamics(sim)   the matrices of the present contacts and joints, in sim.dynamics
%
%   M    mass and inertia of the active bodies          NU        their velocities
%   Gn   normal wrenches, Gn' nu = rate of the gaps     FX        forces on them, gravity included
%   Gf   friction wrenches, num_fricdirs per contact    PSI       gaps
%   Gb   wrenches of the joints                         joint_bn  right side of the joints: Gb' nu + joint_bn = 0
%   U    friction coefficients    E    which directions belong to which contact
%
% Active bodies are the dynamic ones with a contact or a joint, in the order of sim.bodies(k).bodyContactID; first those
% of the joints. Before a user function of yours is called, H_dynamics and friction are those of the step before.
%
% Unlike in RPIsim, friction acts on the two bodies of a contact in opposite directions, and joint_bn is 0: joints are
% held at the level of velocities, their old error is not reflected.
%
% Example:
%   function sim = my_dynamics(sim)          % sim.H_dynamics = @my_dynamics: frictionless, by projected Gauss-Seidel
%     D = sim.dynamics;
%     free = D.NU + D.M \ (sim.h * D.FX);
%     p = pgs(D.Gn' * (D.M \ D.Gn), D.Gn' * free + D.PSI / sim.h);
%     sim.newNU = free + D.M \ (D.Gn * p);
%   end
%
% See also Simulator, LCPdynamics, joint_Jacobians
  for b = 1:numel(sim.bodies)
    sim.bodies(b).active = false;
    sim.bodies(b).bodyContactID = 0;
  end
  sim.num_activeBodies = 0;
  for j = 1:numel(sim.joints)
    sim = sim_activateBodies(sim, sim.joints(j).body1id, sim.joints(j).body2id);
  end
  nc = numel(sim.contacts);
  for c = 1:nc
    sim = sim_activateBodies(sim, sim.contacts(c).body1_id, sim.contacts(c).body2_id);
  end
  nb = sim.num_activeBodies;
  nd = sim.num_fricdirs;

  % Bodies.
  M = sparse(6 * nb, 6 * nb);
  NU = zeros(6 * nb, 1);
  FX = zeros(6 * nb, 1);
  gravity = [sim.gravityVector(:); 0; 0; 0] * double(sim.gravity ~= 0);
  for b = 1:numel(sim.bodies)
    B = sim.bodies(b);
    if B.active
      rows = 6 * B.bodyContactID + (-5:0);
      M(rows, rows) = body_massInertiaMatrix(B);
      NU(rows) = B.nu;
      FX(rows) = B.Fext(:) + B.mass * gravity;
    end
  end

  % Contacts.
  Gn = zeros(6 * nb, nc);
  Gf = zeros(6 * nb, nd * nc);
  PSI = zeros(nc, 1);
  U = zeros(nc, 1);
  for c = 1:nc
    C = sim.contacts(c);
    n = C.normal(:);
    PSI(c) = C.psi_n;
    points = {C.p1(:), C.p1(:) + C.psi_n * n};
    ids = [C.body1_id, C.body2_id];
    t = arbitraryTangent(n);
    s = cross3(n, t);
    angles = 2 * pi * (0:nd - 1) / nd;
    d = t * cos(angles) + s * sin(angles);
    for k = 1:2
      B = sim.bodies(ids(k));
      if B.active
        rows = 6 * B.bodyContactID + (-5:0);
        wrench = (2 * k - 3) * [eye(3); hat(points{k} - B.u(:))];
        Gn(rows, c) = wrench * n;
        Gf(rows, nd * (c - 1) + (1:nd)) = wrench * d;
      end
    end
    U(c) = rpisim_mu(sim, ids(1), ids(2));
  end

  % Joints.
  Gb = zeros(6 * nb, sim.num_jointConstraints);
  for j = 1:numel(sim.joints)
    sim = updateJoint(sim, j);
    J = sim.joints(j);
    [G1, G2] = joint_Jacobians(sim, j);
    if sim.bodies(J.body1id).active
      Gb(6 * sim.bodies(J.body1id).bodyContactID + (-5:0), J.constraintIndex) = G1;
    end
    if sim.bodies(J.body2id).active
      Gb(6 * sim.bodies(J.body2id).bodyContactID + (-5:0), J.constraintIndex) = G2;
    end
  end

  D = sim.dynamics;
  D.M = M;
  D.NU = NU;
  D.FX = FX;
  D.Gn = sparse(Gn);
  D.PSI = PSI;
  D.Gb = sparse(Gb);
  D.joint_bn = zeros(sim.num_jointConstraints, 1);
  if sim.FRICTION
    D.Gf = sparse(Gf);
    D.U = spdiags(U, 0, nc, nc);
    D.E = kron(speye(nc), ones(nd, 1));
  end
  sim.dynamics = D;
end
